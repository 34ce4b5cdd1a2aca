import { isErrorCode } from '@halyard/protocol';
import { exampleOf } from './api-example.ts';
import { inlineText, renderField, renderSchema, typeText } from './api-schema.ts';
import { renderDocument } from './html.ts';
import type {
  ApiContent,
  ApiOperation,
  ApiParameter,
  ApiSchema,
  OpenApiDocument,
} from './openapi-document.ts';

/** Where callers find the address and the token in examples. */
const SHELL = { url: '$HALYARD_URL', token: '$HALYARD_TOKEN', key: '$HALYARD_KEY' } as const;

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

/**
 * The whole interface as one HTML page, made from its OpenAPI document: operations by tag, each with its parameters,
 * bodies, examples and error codes. It needs no script. `root` leads from the page to `/docs/`.
 */
export function renderApiReference(document: OpenApiDocument, root: string): string {
  const byTag = Map.groupBy(endpointsOf(document), ({ operation }) => operation.tags[0] ?? '');
  const contents = [...byTag].map(
    ([tag, some]) =>
      `<li><a href="#${slug(tag)}">${Bun.escapeHTML(tag)}</a> <span>${some.length}</span></li>`,
  );
  const sections = [...byTag].map(([tag, some]) => {
    const operations = some.map((endpoint) => renderOperation(document, endpoint, root));
    return `<section>\n<h2 id="${slug(tag)}">${Bun.escapeHTML(tag)}</h2>\n${operations.join('')}</section>\n`;
  });
  const body = `<div class="api">
<h1>API reference</h1>
<p>Everything that this server (version ${Bun.escapeHTML(document.info.version)}) answers under <code>/v1</code> and
<code>/api</code>. The same for programs: <a href="${root}../api/openapi.json">the OpenAPI document</a>.</p>
<p>Flags are read with a project key in <code>X-Service-Key</code>. Everything under <code>/api</code> takes an access
token in <code>Authorization: Bearer …</code>, or the session of somebody who signed in to the dashboard. Refusals
are JSON with a code; <a href="${root}errors">every code has a page</a>.</p>
<nav aria-label="Sections"><ul class="contents">
${contents.join('\n')}
</ul></nav>
${sections.join('')}</div>
`;
  return renderDocument({ title: 'API reference', body, root });
}

function endpointsOf(document: OpenApiDocument): readonly Endpoint[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  // What reads flags comes first: most people are here for it. What is only about the interface comes last.
  const place = ({ path, operation }: Endpoint) =>
    path.startsWith('/v1') ? 0 : operation.tags.includes('About') ? 2 : 1;
  return all.sort((a, b) => place(a) - place(b));
}

function renderOperation(document: OpenApiDocument, endpoint: Endpoint, root: string): string {
  const { method, path, operation } = endpoint;
  const { operationId: id, summary, description } = operation;
  const note = description === undefined ? '' : `<p>${inlineText(description)}</p>\n`;
  return `<details class="operation">
<summary><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code>
<h3>${inlineText(summary)}</h3></summary>
<div id="${Bun.escapeHTML(id)}">
${note}${renderParameters(document, operation)}${renderBody(document, operation.requestBody?.content)}
<h4>Example</h4>
<pre><code>${Bun.escapeHTML(curl(document, endpoint))}</code></pre>
${renderAnswers(document, operation, root)}<p class="link"><a href="#${Bun.escapeHTML(id)}">Link to ${Bun.escapeHTML(id)}</a></p>
</div>
</details>
`;
}

function renderParameters(document: OpenApiDocument, { parameters = [] }: ApiOperation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    const { name, in: where, required = false, schema } = parameter;
    const field = { name, type: typeText(document, schema), isRequired: required, where };
    return renderField(field, { ...schema, ...described(parameter) });
  });
  return `<h4>Parameters</h4>\n<ul class="fields">\n${rows.join('')}</ul>\n`;
}

function described({ description }: ApiParameter): Pick<ApiSchema, 'description'> {
  return description === undefined ? {} : { description };
}

function renderBody(document: OpenApiDocument, content: ApiContent | undefined): string {
  const [first] = Object.entries(content ?? {});
  if (first === undefined || content === undefined) return '';
  const [, { schema }] = first;
  return `<h4>Body</h4>\n<p>${mediaTypes(content)}: ${typeText(document, schema)}</p>\n${renderSchema(document, schema)}`;
}

function renderAnswers(document: OpenApiDocument, { responses }: ApiOperation, root: string): string {
  const [good, refused] = [200, 400].map((from) =>
    Object.entries(responses).filter(([status]) => Number(status) >= from && Number(status) < from + 200),
  );
  const answers = (good ?? []).map(([status, { description, content, headers }]) => {
    const names = Object.keys(headers ?? {}).map((name) => `<code>${Bun.escapeHTML(name)}</code>`);
    const also = names.length === 0 ? '' : ` With ${names.join(', ')}.`;
    const head = `<h4>Answer ${status}</h4>\n<p>${inlineText(description)}${also}</p>\n`;
    return head + renderAnswer(document, content);
  });
  const errors = (refused ?? []).map(
    ([status, { description }]) => `<li>${status} ${linkCodes(description, root)}</li>\n`,
  );
  const refusals =
    errors.length === 0 ? '' : `<h4>Refusals</h4>\n<ul class="errors">\n${errors.join('')}</ul>\n`;
  return answers.join('') + refusals;
}

function renderAnswer(document: OpenApiDocument, content: ApiContent | undefined): string {
  const [first] = Object.entries(content ?? {});
  if (first === undefined || content === undefined) return '';
  const [mediaType, { schema }] = first;
  const type = `<p>${mediaTypes(content)}: ${typeText(document, schema)}</p>\n`;
  if (!mediaType.includes('json')) return type;
  const example = JSON.stringify(exampleOf(document, schema), undefined, 2);
  return `${type}${renderSchema(document, schema)}<pre><code>${Bun.escapeHTML(example)}</code></pre>\n`;
}

function mediaTypes(content: ApiContent): string {
  return Object.keys(content)
    .map((type) => `<code>${Bun.escapeHTML(type)}</code>`)
    .join(' or ');
}

function linkCodes(description: string, root: string): string {
  return inlineText(description).replace(/<code>(\w+)<\/code>/g, (whole, code: string) =>
    isErrorCode(code) ? `<a href="${root}errors/${code}">${whole}</a>` : whole,
  );
}

function curl(document: OpenApiDocument, { method, path, operation }: Endpoint): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const example = (parameter: ApiParameter) => String(exampleOf(document, parameter.schema, parameter.name));
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return parameter === undefined ? whole : encodeURIComponent(example(parameter));
  });
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map((one) => `${one.name}=${encodeURIComponent(example(one))}`)
    .join('&');
  const [schema] = Object.values(requestBody?.content ?? {}).map((content) => content.schema);
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${SHELL.url}${filled}${query === '' ? '' : `?${query}`}"`,
    ...credentials(security.flatMap((scheme) => Object.keys(scheme))),
    ...(schema === undefined ? [] : [`-H "Content-Type: application/json"`]),
    ...(schema === undefined ? [] : [`-d '${JSON.stringify(exampleOf(document, schema))}'`]),
  ];
  return lines.join(' \\\n  ');
}

function credentials(schemes: readonly string[]): string[] {
  if (schemes.includes('serviceKey')) return [`-H "X-Service-Key: ${SHELL.key}"`];
  return schemes.includes('accessToken') ? [`-H "Authorization: Bearer ${SHELL.token}"`] : [];
}

/** Lets a long path break after its slashes on a narrow screen. */
function breakable(path: string): string {
  return Bun.escapeHTML(path).replaceAll('/', '/<wbr>');
}

function slug(tag: string): string {
  return tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
