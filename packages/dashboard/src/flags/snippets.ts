import type { Json } from '../api/types.ts';

/** The flag that a snippet reads, and where. */
interface SnippetInput {
  /** The server's address, without a slash at the end. */
  readonly baseUrl: string;
  readonly environment: string;
  readonly key: string;
  /** A value of the flag, which decides the type that the code reads; `undefined` for a plain on/off flag. */
  readonly value: Json | undefined;
}

/** Code that reads a flag, in one language. */
interface Snippet {
  readonly name: string;
  /** The packages that it needs, as their registry names them. */
  readonly packages?: readonly string[];
  /** The page of the Halyard client that it uses: how to install it. */
  readonly client?: string;
  readonly write: (facts: Facts) => string;
}

/** The snippets by the way in which they read flags, in the order in which they are offered. */
export const SNIPPET_GROUPS = {
  'From memory, with a Halyard client': ['typescript', 'react', 'python', 'go', 'java'],
  'OpenFeature over HTTP (OFREP)': ['javascript', 'web', 'python-ofrep', 'go-ofrep', 'java-ofrep'],
  HTTP: ['read', 'stream', 'evaluate'],
} as const;

/** One of the snippets. */
export type SnippetName = (typeof SNIPPET_GROUPS)[keyof typeof SNIPPET_GROUPS][number];

/**
 * Code that reads a flag, to paste. The project key comes from the environment variable `HALYARD_KEY`, so that it is never
 * in the code. Tests compile the TypeScript against the packages, and compare the others with `examples`, which are run.
 */
export function snippetOf(name: SnippetName, { baseUrl, environment, key, value }: SnippetInput): string {
  const type = typeOf(value);
  return SNIPPETS[name].write({
    baseUrl,
    environment,
    key,
    type,
    isInteger: Number.isInteger(value),
    variable: type === 'boolean' ? 'isOn' : 'value',
    fallback: type === 'json' && Array.isArray(value) ? '[]' : JS_FALLBACKS[type],
    provider: `${baseUrl}/environments/${environment}`,
  });
}

type FlagType = 'boolean' | 'string' | 'number' | 'json';

/** What the snippets are made of. Keys, names and addresses have no quotes in them. */
interface Facts extends Omit<SnippetInput, 'value'> {
  readonly type: FlagType;
  /** Python, Go and Java have separate methods for integers and floats. */
  readonly isInteger: boolean;
  readonly variable: string;
  /** The default in JavaScript. */
  readonly fallback: string;
  /** The base address of OpenFeature's providers. */
  readonly provider: string;
}

function typeOf(value: Json | undefined): FlagType {
  if (value === undefined || value === null) return 'boolean';
  const type = typeof value;
  return type === 'boolean' || type === 'string' || type === 'number' ? type : 'json';
}

const JS_FALLBACKS = { boolean: 'false', string: "''", number: '0', json: '{}' } as const;
const JS_READERS = {
  boolean: 'getBooleanValue',
  string: 'getStringValue',
  number: 'getNumberValue',
  json: 'getObjectValue',
} as const;
const PYTHON_READS = {
  boolean: (key: string) => `is_on = flags.get_boolean_value("${key}", False, user)`,
  string: (key: string) => `value = flags.get_string_value("${key}", "", user)`,
  integer: (key: string) => `value = flags.get_integer_value("${key}", 0, user)`,
  number: (key: string) => `value = flags.get_float_value("${key}", 0.0, user)`,
  json: (key: string) => `value = flags.get_object_value("${key}", {}, user)`,
} as const;
const JAVA_READS = {
  boolean: (key: string) => `boolean isOn = flags.getBooleanValue("${key}", false`,
  string: (key: string) => `String value = flags.getStringValue("${key}", ""`,
  integer: (key: string) => `int value = flags.getIntegerValue("${key}", 0`,
  number: (key: string) => `double value = flags.getDoubleValue("${key}", 0.0`,
  json: (key: string) => `Value value = flags.getObjectValue("${key}", new Value()`,
} as const;
const GO_READS = {
  boolean: (key: string) => `Boolean(context.Background(), "${key}", false`,
  string: (key: string) => `String(context.Background(), "${key}", ""`,
  integer: (key: string) => `Int(context.Background(), "${key}", 0`,
  number: (key: string) => `Float(context.Background(), "${key}", 0`,
  json: (key: string) => `Object(context.Background(), "${key}", nil`,
} as const;

/** The snippets by name. */
export const SNIPPETS: Readonly<Record<SnippetName, Snippet>> = {
  typescript: {
    name: 'TypeScript',
    packages: ['@halyard/client'],
    client: '/docs/client',
    write: ({ baseUrl, environment, key, type, variable, fallback }) => `\
import { createClient } from '@halyard/client';

const flags = createClient({
  apiKey: process.env.HALYARD_KEY ?? '',
  environment: '${environment}',
  baseUrl: '${baseUrl}',${isPlainHttp(baseUrl) ? '\n  allowInsecureHttp: true, // this address is not https' : ''}
});
await flags.ready();
const ${variable} = flags.${
      type === 'boolean' ? `isEnabled('${key}'` : `getValue('${key}', ${fallback}`
    }, { targetingKey: 'user-1' });`,
  },
  react: {
    name: 'React',
    packages: ['@halyard/client'],
    client: '/docs/client',
    write: ({ environment, key, type, variable, fallback }) => `\
import { createClient } from '@halyard/client';
import { FlagsProvider, ${type === 'boolean' ? 'useFlag' : 'useFlagValue'} } from '@halyard/client/react';

// Your server answers /flags with createFlagsHandler, and keeps the key.
const client = createClient({ apiKey: false, environment: '${environment}', baseUrl: '/flags' });

function Feature() {
  const ${variable} = ${
    type === 'boolean' ? `useFlag('${key}'` : `useFlagValue('${key}', ${fallback}`
  }, { targetingKey: 'user-1' });
  return <p>${key} is ${type === 'boolean' ? "{isOn ? 'on' : 'off'}" : '{JSON.stringify(value)}'}</p>;
}

export function App() {
  return (
    <FlagsProvider client={client}>
      <Feature />
    </FlagsProvider>
  );
}`,
  },
  python: {
    name: 'Python',
    packages: ['halyard-flags'],
    client: '/docs/client-python',
    write: ({ baseUrl, environment, key, type, isInteger }) => `\
import os

from halyard import HalyardProvider
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import OpenFeatureError

try:
    api.set_provider_and_wait(
        HalyardProvider(
            base_url="${baseUrl}",
            api_key=os.environ["HALYARD_KEY"],
            environment="${environment}",${isPlainHttp(baseUrl) ? '\n            allow_insecure_http=True,  # this address is not https' : ''}
        )
    )
except OpenFeatureError as error:
    print(error)  # reads give defaults until the cause has passed
flags = api.get_client()
user = EvaluationContext(targeting_key="user-1")
${PYTHON_READS[isInteger ? 'integer' : type](key)}`,
  },
  java: {
    name: 'Java',
    packages: ['dev.halyard:halyard-openfeature-provider'],
    client: '/docs/client-java',
    write: ({ baseUrl, environment, key, type, isInteger }) => `\
import dev.halyard.HalyardOptions;
import dev.halyard.HalyardProvider;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;${type === 'json' ? '\nimport dev.openfeature.sdk.Value;' : ''}
import dev.openfeature.sdk.exceptions.OpenFeatureError;

HalyardOptions options = HalyardOptions.builder()
    .baseUrl("${baseUrl}")
    .apiKey(System.getenv("HALYARD_KEY"))
    .environment("${environment}")${isPlainHttp(baseUrl) ? '\n    .allowInsecureHttp(true) // this address is not https' : ''}
    .build();
try {
  OpenFeatureAPI.getInstance().setProviderAndWait(new HalyardProvider(options));
} catch (OpenFeatureError error) {
  System.err.println(error.getMessage()); // reads give defaults until the cause has passed
}
Client flags = OpenFeatureAPI.getInstance().getClient();
${JAVA_READS[isInteger ? 'integer' : type](key)}, new ImmutableContext("user-1"));`,
  },
  go: {
    name: 'Go',
    packages: ['github.com/halyard-flags/halyard/clients/go'],
    client: '/docs/client-go',
    write: ({ baseUrl, environment, key, type, isInteger, variable }) => `\
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	halyard "github.com/halyard-flags/halyard/clients/go"
	"github.com/halyard-flags/halyard/clients/go/provider"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	err := openfeature.SetProviderAndWait(provider.New(halyard.Options{
${goOptions(baseUrl, environment)}
	}))
	if err != nil {
		log.Print(err) // reads give defaults until the cause has passed
	}
	flags := openfeature.NewDefaultClient()
	user := openfeature.NewEvaluationContext("user-1", nil)
	${variable} := flags.${GO_READS[isInteger ? 'integer' : type](key)}, user)
	fmt.Println("${key}", ${variable})
}`,
  },
  javascript: {
    name: 'JavaScript, on a server',
    packages: ['@openfeature/server-sdk', '@openfeature/ofrep-core', '@openfeature/ofrep-provider'],
    write: ({ provider, key, type, variable, fallback }) => `\
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

await OpenFeature.setProviderAndWait(
  new OFREPProvider({
    baseUrl: '${provider}',
    headers: { 'X-API-Key': process.env.HALYARD_KEY ?? '' },
  }),
);
const flags = OpenFeature.getClient();
const ${variable} = await flags.${JS_READERS[type]}('${key}', ${fallback}, { targetingKey: 'user-1' });`,
  },
  web: {
    name: 'JavaScript, in a page',
    packages: ['@openfeature/web-sdk', '@openfeature/ofrep-core', '@openfeature/ofrep-web-provider'],
    write: ({ environment, key, type, variable, fallback }) => `\
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

// Your server answers /flags with createFlagsHandler, and keeps the key.
const baseUrl = \`\${location.origin}/flags/environments/${environment}\`;
await OpenFeature.setContext({ targetingKey: 'user-1' });
await OpenFeature.setProviderAndWait(new OFREPWebProvider({ baseUrl }));
const flags = OpenFeature.getClient();
const ${variable} = flags.${JS_READERS[type]}('${key}', ${fallback});`,
  },
  'python-ofrep': {
    name: 'Python, over HTTP',
    packages: ['openfeature-sdk', 'openfeature-provider-ofrep'],
    write: ({ provider, key, type, isInteger }) => `\
import os

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

api.set_provider(
    OFREPProvider(
        "${provider}",
        headers_factory=lambda: {"X-API-Key": os.environ["HALYARD_KEY"]},
    )
)
flags = api.get_client()
user = EvaluationContext(targeting_key="user-1")
${PYTHON_READS[isInteger ? 'integer' : type](key)}`,
  },
  'java-ofrep': {
    name: 'Java, over HTTP',
    packages: ['dev.openfeature:sdk', 'dev.openfeature.contrib.providers:ofrep'],
    write: ({ provider, key, type, isInteger }) => `\
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.openfeature.contrib.providers.ofrep.OfrepProvider;
import dev.openfeature.contrib.providers.ofrep.OfrepProviderOptions;
import dev.openfeature.sdk.Client;
import dev.openfeature.sdk.ImmutableContext;
import dev.openfeature.sdk.OpenFeatureAPI;${type === 'json' ? '\nimport dev.openfeature.sdk.Value;' : ''}

OfrepProviderOptions options = OfrepProviderOptions.builder()
    .baseUrl("${provider}")
    .headers(ImmutableMap.of("X-API-Key", ImmutableList.of(System.getenv("HALYARD_KEY"))))
    .build();
OpenFeatureAPI.getInstance().setProviderAndWait(OfrepProvider.constructProvider(options));
Client flags = OpenFeatureAPI.getInstance().getClient();
${JAVA_READS[isInteger ? 'integer' : type](key)}, new ImmutableContext("user-1"));`,
  },
  'go-ofrep': {
    name: 'Go, over HTTP',
    packages: [
      'github.com/open-feature/go-sdk/openfeature',
      'github.com/open-feature/go-sdk-contrib/providers/ofrep',
    ],
    write: ({ provider, key, type, isInteger, variable }) => `\
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	provider := ofrep.NewProvider(
		"${provider}",
		ofrep.WithApiKeyAuth(os.Getenv("HALYARD_KEY")),
	)
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		log.Fatal(err)
	}
	flags := openfeature.NewDefaultClient()
	user := openfeature.NewEvaluationContext("user-1", nil)
	${variable} := flags.${GO_READS[isInteger ? 'integer' : type](key)}, user)
	fmt.Println("${key}", ${variable})
}`,
  },
  read: {
    name: 'curl: read the flag',
    write: ({ baseUrl, environment, key }) => `\
curl '${baseUrl}/v1/flags/${key}?env=${environment}' \\
  -H "X-Service-Key: $HALYARD_KEY"`,
  },
  stream: {
    name: 'curl: follow all flags',
    write: ({ baseUrl, environment }) => `\
curl -N '${baseUrl}/v1/stream?env=${environment}' \\
  -H "X-Service-Key: $HALYARD_KEY"`,
  },
  evaluate: {
    name: 'curl: evaluate for a user',
    write: ({ provider, key }) => `\
curl '${provider}/ofrep/v1/evaluate/flags/${key}' \\
  -H "X-API-Key: $HALYARD_KEY" -H 'Content-Type: application/json' \\
  -d '{"context":{"targetingKey":"user-1"}}'`,
  },
};

/** The members of Go's options, in columns as gofmt writes them. */
function goOptions(baseUrl: string, environment: string): string {
  const insecure = ['AllowInsecureHTTP', 'true, // this address is not https'] as const;
  const options = [
    ['BaseURL', `"${baseUrl}",`],
    ['APIKey', 'os.Getenv("HALYARD_KEY"),'],
    ['Environment', `"${environment}",`],
    ...(isPlainHttp(baseUrl) ? [insecure] : []),
  ] as const;

  const width = Math.max(...options.map(([name]) => name.length)) + 2;
  return options.map(([name, value]) => `\t\t${`${name}:`.padEnd(width)}${value}`).join('\n');
}

/** Plain http to another machine: the key travels in the clear, so the client asks for consent. */
function isPlainHttp(baseUrl: string): boolean {
  return baseUrl.startsWith('http:') && !/^http:\/\/(127\.|localhost|\[::1\])/.test(baseUrl);
}
