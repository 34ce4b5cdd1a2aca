/**
 * OFREP's own OpenAPI document (`service/openapi.yaml` of open-feature/protocol) cannot be met to the letter: no service can
 * evaluate an integer by it. The amendments below say where and why, so that a run finds everything else.
 */
import { FLAGS } from '../cases.ts';

/** A JSON Schema. */
type Schema = Record<string, unknown>;

/** The parts of the document that are read here. */
interface OfrepDocument {
  readonly components: { readonly schemas: Record<string, Schema | undefined> };
  readonly paths: Record<string, { readonly post?: Operation }>;
}

interface Operation {
  readonly parameters?: readonly Schema[];
  readonly requestBody?: Schema;
}

/** Where the document cannot be met, and what is tested instead. `apply` returns whether the document has the passage. */
interface Amendment {
  readonly because: string;
  readonly apply: (document: OfrepDocument) => boolean;
}

const AMENDMENTS: readonly Amendment[] = [
  {
    because:
      'an integer matches integerFlag and floatFlag, which "oneOf" forbids; a value may be an array or null, which ' +
      'the document has no type for; a value may be absent (ADR-0006)',
    apply: ({ components: { schemas } }) => {
      const parts = (schemas.evaluationSuccess?.allOf ?? []) as readonly { oneOf?: readonly Schema[] }[];
      const typed = parts.find(({ oneOf }) => oneOf);
      if (typed === undefined) return false;
      const arms = typed.oneOf?.filter(({ $ref }) => !String($ref).endsWith('/codeDefaultFlag'));
      delete typed.oneOf;
      return amend(typed, {
        anyOf: [
          ...(arms ?? []),
          { properties: { value: { type: ['array', 'null'] } }, required: ['value'] },
          { not: { anyOf: [{ required: ['value'] }, { required: ['errorCode'] }] } },
        ],
      });
    },
  },
  {
    because:
      'a request without a body is refused, since a body that was lost on the way would evaluate for no one',
    apply: ({ paths }) =>
      Object.values(paths)
        .map(({ post }) => post?.requestBody !== undefined && amend(post.requestBody, { required: true }))
        .some(Boolean),
  },
  {
    because:
      'a body that is not an object is refused, which the document forgets to say; one without a context is taken, ' +
      'since providers send it',
    apply: ({ components: { schemas } }) =>
      [schemas.evaluationRequest, schemas.bulkEvaluationRequest]
        .map((schema = {}) => amend(schema, { type: 'object', required: undefined }))
        .some(Boolean),
  },
  {
    because:
      'a context or targeting key that is null counts as absent, since providers send it; any other targeting key ' +
      'must be a string',
    apply: ({ components: { schemas } }) => {
      const { context = {} } = schemas;
      const targetingKey = { type: ['string', 'null'] };
      return amend(context, {
        type: ['object', 'null'],
        properties: { ...(context.properties as object), targetingKey },
      });
    },
  },
];

/** The document as it is tested, and why it differs. Flag keys are those of `cases.ts`, and one that does not exist. */
export async function amendedDocument(
  path: string,
): Promise<{ readonly document: OfrepDocument; readonly reasons: readonly string[] }> {
  // `as`: schemathesis refuses a document that lacks any of it.
  const document = Bun.YAML.parse(await Bun.file(path).text()) as OfrepDocument;
  const reasons = AMENDMENTS.filter(({ apply }) => apply(document)).map(({ because }) => because);
  const keys = [...FLAGS.map(({ key }) => key), 'missing'];
  for (const { post } of Object.values(document.paths))
    for (const parameter of post?.parameters ?? [])
      if (parameter.in === 'path') amend(parameter, { schema: { type: 'string', enum: keys } });
  delete document.paths['/ofrep/v1/configuration']; // optional, and gone in later versions
  return { document, reasons };
}

/** Sets members, or removes those that are `undefined`. Returns whether that changed anything. */
function amend(schema: object, members: Schema): boolean {
  const before = JSON.stringify(schema);
  Object.assign(schema, members);
  return JSON.stringify(schema) !== before;
}
