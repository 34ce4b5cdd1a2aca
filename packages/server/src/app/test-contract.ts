import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A part of a JSON Schema, or of a document with such parts. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into every member of the description.
export type Described = any;

/** One operation of the OpenAPI document. */
export interface DescribedOperation {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly described: Described;
}

/** One request and its answer. */
export interface Exchange {
  readonly method: string;
  /** The path that was sent, with its query. */
  readonly target: string;
  /** The text that was sent; absent without a body. */
  readonly sent?: string | undefined;
  readonly answer: Pick<Response, 'status' | 'headers'>;
  /** The body of the answer. */
  readonly text: string;
}

const METHODS = /^(get|put|post|patch|delete)$/;
const JSON_TYPE = 'application/json';

/** The name of the document in references. */
const NAME = 'openapi.json';

/** Compares what callers send and get with what an OpenAPI document says about it, by JSON Schema 2020-12. */
export class Contract {
  readonly operations: readonly DescribedOperation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #patterns: readonly { readonly pattern: RegExp; readonly operation: DescribedOperation }[];

  /** `document` is the parsed OpenAPI document. */
  constructor(document: Described) {
    addFormats(this.#ajv);
    this.#ajv.addSchema(closed(document), NAME);
    this.operations = operationsOf(document);
    this.#patterns = this.operations
      .map((operation) => ({ pattern: patternOf(operation.path), operation }))
      // A literal segment wins over a parameter.
      .sort((one, other) => one.operation.path.split('{').length - other.operation.path.split('{').length);
  }

  /** The operation of a request; `undefined` where the document has none. */
  operationOf(method: string, target: string): DescribedOperation | undefined {
    const path = target.replace(/[?#].*$/s, '');
    return this.#patterns.find(({ pattern, operation }) => operation.method === method && pattern.test(path))
      ?.operation;
  }

  /** What the document does not allow about an exchange; empty if it is as described, or of no operation. */
  problemsOf({ method, target, sent, answer, text }: Exchange): readonly string[] {
    const operation = this.operationOf(method, target);
    if (operation === undefined) return [];
    const { path, described } = operation;
    const place = `/paths/${pointerPart(path)}/${method.toLowerCase()}`;

    const { status } = answer;
    const type = answer.headers.get('Content-Type')?.split(';')[0] ?? '';
    const response = described.responses[status];
    const name = `${method} ${path} answered ${status}`;
    if (response === undefined) return [`${name}, which is not described`];
    if (response.content === undefined && text !== '') return [`${name} with a body, which is not described`];
    if (response.content !== undefined && !(type in response.content)) {
      return [`${name} as ${JSON.stringify(type)}, which is not described`];
    }

    const problems: string[] = [];
    if (response.content?.[JSON_TYPE] && type === JSON_TYPE) {
      problems.push(...this.#check(`${place}/responses/${status}`, text));
    }
    if (status < 300 && sent !== undefined && described.requestBody?.content[JSON_TYPE] && isJson(sent)) {
      problems.push(...this.#check(`${place}/requestBody`, sent));
    }
    return problems;
  }

  /** Checks a text with the schema that the document has at a place. */
  #check(place: string, text: string): string[] {
    const $ref = `${NAME}#${place}/content/${pointerPart(JSON_TYPE)}/schema`;
    const check = this.#checks.get(place) ?? this.#ajv.compile({ $ref });
    this.#checks.set(place, check);
    if (check(JSON.parse(text))) return [];
    const errors = (check.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
    return [`${decodeURIComponent(place)}: ${errors.join('; ')}`];
  }
}

function operationsOf(document: Described): DescribedOperation[] {
  return Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.test(method))
      .map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  );
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** A path as a part of a JSON pointer in a URI. */
function pointerPart(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The document, with answers that may have no members besides those that are described. */
function closed(document: Described): Described {
  const copy = structuredClone(document);
  for (const { described } of operationsOf(copy)) {
    for (const response of Object.values<Described>(described.responses)) {
      for (const media of Object.values<Described>(response.content ?? {})) close(media.schema);
    }
  }
  for (const schema of Object.values<Described>(copy.components.schemas)) closeMembers(schema);
  return copy;
}

/** Closes an object at the place where it is used: where it is a part of another one, it stays open. */
function close(schema: Described): void {
  if (schema === undefined) return;
  const isObject = schema.$ref !== undefined || schema.properties !== undefined || schema.allOf !== undefined;
  if (isObject) schema.unevaluatedProperties = false;
  closeMembers(schema);
}

function closeMembers(schema: Described): void {
  for (const member of Object.values<Described>(schema.properties ?? {})) close(member);
  if (schema.items) close(schema.items);
  if (typeof schema.additionalProperties === 'object') close(schema.additionalProperties);
  for (const part of schema.allOf ?? []) closeMembers(part);
  for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) close(part);
}
