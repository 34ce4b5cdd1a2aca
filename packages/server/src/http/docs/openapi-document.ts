/** The parts of an OpenAPI 3.1 document that the reference page shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}

/** One operation. */
export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: { readonly content: ApiContent };
  /** By status. */
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

/** Something in the path, the query or the headers. */
export interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: ApiSchema;
}

/** One answer. */
export interface ApiResponse {
  readonly description: string;
  readonly content?: ApiContent;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
}

/** Bodies by media type. */
export type ApiContent = Readonly<Record<string, { readonly schema: ApiSchema }>>;

/** A JSON Schema as our own schemas are written: the keywords they use. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly additionalProperties?: ApiSchema | boolean;
  readonly allOf?: readonly ApiSchema[];
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A schema with what it refers to and is put together from written out. */
export interface ResolvedSchema extends ApiSchema {
  /** What the document calls it, where it has a name. */
  readonly name?: string;
}

/** Writes out references and `allOf`; the schema's own words win over those of what it refers to. */
export function resolveSchema(document: OpenApiDocument, schema: ApiSchema): ResolvedSchema {
  const { $ref, allOf, ...own } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    const target = document.components.schemas[name];
    if (target === undefined) throw new Error(`the document refers to a schema that it lacks: ${$ref}`);
    return { ...resolveSchema(document, target), ...own, name };
  }
  if (allOf === undefined) return schema;
  const parts = [...allOf.map((part) => resolveSchema(document, part)), own];
  return {
    ...own,
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: parts.flatMap((part) => part.required ?? []),
  };
}
