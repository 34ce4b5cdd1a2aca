import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Parsed } from '@halyard/protocol';
import { parsePostgresUrl } from '../domain/postgres-url.ts';
import { normalizeIssuer, parseGroupRole, SSO_ROLES } from '../domain/sso.ts';

/** Parses the text of a setting. */
export interface SettingReader<Value> {
  /** The placeholder in help texts, such as `<port>`; empty for a switch. */
  readonly placeholder: string;
  /** A valid value, to end the sentence "<name> must be …". */
  readonly expected: string;
  /** Returns `undefined` for an invalid text. */
  read(text: string): Value | undefined;
}

/** A whole number in a range, both ends included. */
export function wholeNumber(least: number, most: number, placeholder: string): SettingReader<number> {
  return {
    placeholder,
    expected: `a whole number from ${least} to ${most}`,
    read: (text) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return number >= least && number <= most ? number : undefined;
    },
  };
}

/** The most worker processes: beyond this, adding up their figures costs more than they bring. */
const MAX_WORKERS = 64;

/** A number of worker processes; `auto` is one per core. */
export const workerCount: SettingReader<number> = {
  placeholder: '<n>',
  expected: `a whole number from 1 to ${MAX_WORKERS}, or auto`,
  read: (text) => {
    if (text === 'auto') return Math.min(availableParallelism(), coresAllowed(cpuLimit()), MAX_WORKERS);
    return wholeNumber(1, MAX_WORKERS, '<n>').read(text);
  },
};

/** The limit of processor time of this container, as Linux writes it: `200000 100000` are two cores. */
function cpuLimit(): string {
  try {
    return readFileSync('/sys/fs/cgroup/cpu.max', 'utf8');
  } catch {
    // Not Linux, an older kernel, or no container.
    return 'max';
  }
}

/** How many cores such a limit allows, at least one. */
export function coresAllowed(limit: string): number {
  const [, quota, period] = /^(\d+) (\d+)/.exec(limit) ?? [];
  return quota === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(1, Math.ceil(Number(quota) / Number(period)));
}

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 };

/** A number of bytes, plain or with a unit: `1048576`, `512KiB`, `1MiB`. */
export function byteCount(least: number): SettingReader<number> {
  return {
    placeholder: '<bytes>',
    expected: `a number of bytes of at least ${least}, such as 1048576, 512KiB or 1MiB`,
    read: (text) => {
      const [, digits, unit = ''] = /^(\d{1,12}) ?(|KiB|MiB|GiB)$/i.exec(text) ?? [];
      if (digits === undefined) return undefined;
      const bytes = Number(digits) * (BYTE_UNITS[unit.toLowerCase()] ?? Number.NaN);
      return bytes >= least ? bytes : undefined;
    },
  };
}

/** On or off: `true`, `on`, `yes`, `1` and their opposites. */
export const onOff: SettingReader<boolean> = {
  placeholder: '',
  expected: 'true or false',
  read: (text) => {
    if (/^(true|on|yes|1)$/i.test(text)) return true;
    if (/^(false|off|no|0)$/i.test(text)) return false;
    return undefined;
  },
};

/** One of a few words. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  placeholder: string,
): SettingReader<Word> {
  return {
    placeholder,
    expected: `one of ${words.join(', ')}`,
    read: (text) => words.find((word) => word === text),
  };
}

/** A host name or an IP address to listen on. */
export const hostName: SettingReader<string> = {
  placeholder: '<host>',
  expected: 'an IP address or a host name without scheme and port, such as 127.0.0.1, 0.0.0.0 or ::',
  read: (text) =>
    isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) ? text : undefined,
};

/** The path of a folder. */
export const folderPath: SettingReader<string> = {
  placeholder: '<folder>',
  expected: 'the path of a folder',
  read: (text) => (text.includes('\0') ? undefined : text),
};

/** The path of a file. It is read when it is needed. */
export const filePath: SettingReader<string> = {
  ...folderPath,
  placeholder: '<file>',
  expected: 'the path of a file',
};

/** The address of a PostgreSQL database, on one server or several. */
export const postgresUrl: SettingReader<string> = {
  placeholder: '<url>',
  expected: 'an address such as postgres://user:password@host:5432/database',
  read: (text) => (parsePostgresUrl(text) === undefined ? undefined : text),
};

/** An HTTP address; slashes at the end are dropped, so that paths can be appended. */
export const httpUrl: SettingReader<string> = {
  placeholder: '<url>',
  expected: 'an http:// or https:// address without a query or credentials',
  read: (text) => {
    const url = parseUrl(text);
    if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
    if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return undefined;
    return url.href.replace(/\/+$/, '');
  },
};

/** Most addresses of upstreams. */
const MAX_UPSTREAMS = 10;

/** HTTP addresses, separated by commas. */
export const httpUrls: SettingReader<readonly string[]> = {
  placeholder: '<urls>',
  expected: `up to ${MAX_UPSTREAMS} different http:// or https:// addresses without a query or credentials, separated by commas`,
  read: (text) => {
    const urls = text.split(',').flatMap((part) => httpUrl.read(part.trim()) ?? []);
    const isWhole = urls.length === text.split(',').length && new Set(urls).size === urls.length;
    return isWhole && urls.length <= MAX_UPSTREAMS ? Object.freeze(urls) : undefined;
  },
};

/** An HTTP address without a path: the dashboard's files are at the root. Given without a slash at the end. */
export const httpOrigin: SettingReader<string> = {
  placeholder: '<url>',
  expected:
    'an http:// or https:// address without a path, as the dashboard works only at the root of a host',
  read: (text) => {
    const url = httpUrl.read(text);
    return url !== undefined && new URL(url).pathname === '/' ? url : undefined;
  },
};

/** A secret chosen by a user: hard to guess, and valid in a header. */
export const secretText: SettingReader<string> = {
  placeholder: '<secret>',
  expected: 'at least 16 printable ASCII characters without spaces',
  read: (text) => (/^[\x21-\x7e]{16,}$/.test(text) ? text : undefined),
};

/** A password of an operator. Whether it is a common one is checked where it is used, once: a node that has people starts with any. */
export const passwordText: SettingReader<string> = {
  placeholder: '<password>',
  expected: '12 to 200 characters on one line',
  read: (text) => (/^\P{Cc}{12,200}$/u.test(text) ? text : undefined),
};

/** An email address. */
export const emailAddress: SettingReader<string> = {
  placeholder: '<email>',
  expected: 'an email address, such as ada@example.com',
  read: (text) => (/^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254 ? text : undefined),
};

/** Origins as browsers send them, separated by commas, or `*` for every origin. */
export const originList: SettingReader<readonly string[]> = {
  placeholder: '<origins>',
  expected: 'origins separated by commas, such as https://app.example.com,http://localhost:5173, or *',
  read: (text) => {
    const origins = text.split(',').map((origin) => origin.trim());
    return origins.every((origin) => origin === '*' || parseUrl(origin)?.origin === origin)
      ? Object.freeze(origins)
      : undefined;
  },
};

/** Networks in CIDR notation, separated by commas. */
export const networkList: SettingReader<readonly string[]> = {
  placeholder: '<networks>',
  expected: 'networks separated by commas, such as 10.0.0.0/8,fd00::/8',
  read: (text) => {
    const networks = text.split(',').map((network) => network.trim());
    const isNetwork = (network: string) => {
      const [, address = '', length] = /^([^/]+)\/(\d{1,3})$/.exec(network) ?? [];
      const version = isIP(address);
      return version !== 0 && Number(length) <= (version === 4 ? 32 : 128);
    };
    return networks.every(isNetwork) ? Object.freeze(networks) : undefined;
  },
};

/** The issuer of an identity provider. Plain HTTP only on this machine: the tokens decide who may sign in. */
export const issuerUrl: SettingReader<string> = {
  placeholder: '<url>',
  expected: 'an https:// address without a query or credentials, such as https://id.example.com/realms/main',
  read: (text) => {
    const url = parseUrl(text);
    if (url === undefined || httpUrl.read(text) === undefined) return undefined;
    const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    return url.protocol === 'https:' || isLocal ? normalizeIssuer(text) : undefined;
  },
};

/** The name of a client at an identity provider. */
export const clientText: SettingReader<string> = {
  placeholder: '<id>',
  expected: 'printable characters without spaces',
  read: (text) => (/^[\x21-\x7e]{1,500}$/.test(text) ? text : undefined),
};

/** The secret of a client, which the identity provider chose. */
export const clientSecretText: SettingReader<string> = { ...clientText, placeholder: '<secret>' };

/** Groups with their roles, each as `group=role`. */
export const groupRoleList: SettingReader<readonly string[]> = {
  placeholder: '<roles>',
  expected: `pairs of a group and a role separated by commas, such as flags-admins=admin,shop-devs=editor@shop; the roles are ${SSO_ROLES.join(', ')}`,
  read: (text) => {
    // `\,` is a comma in the name of a group.
    const pairs = text.split(/(?<!\\),/).map((pair) => pair.trim());
    return pairs.every((pair) => parseGroupRole(pair) !== undefined) ? Object.freeze(pairs) : undefined;
  },
};

/** The name of a claim; dots lead into objects. */
export const claimName: SettingReader<string> = {
  placeholder: '<claim>',
  expected: 'the name of a claim, such as groups or realm_access.roles',
  read: (text) => (/^\S{1,200}$/.test(text) ? text : undefined),
};

/** Scopes of OpenID Connect. */
export const scopeList: SettingReader<string> = {
  placeholder: '<scopes>',
  expected: 'scopes separated by spaces, with openid among them, such as "openid profile email groups"',
  read: (text) => {
    const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
    const isValid =
      scopes.includes('openid') && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
    return isValid ? scopes.join(' ') : undefined;
  },
};

/** Domains of e-mail addresses, in lower case. */
export const domainList: SettingReader<readonly string[]> = {
  placeholder: '<domains>',
  expected: 'domains separated by commas, such as example.com,example.org',
  read: (text) => {
    const domains = text.split(',').map((domain) => domain.trim().toLowerCase());
    return domains.every((domain) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(domain))
      ? Object.freeze(domains)
      : undefined;
  },
};

/** A bucket of S3-compatible storage, or a folder in one. */
export const storageUrl: SettingReader<string> = {
  placeholder: '<url>',
  expected: 'an address such as s3://bucket/folder',
  read: (text) => (/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?$/i.test(text) ? text : undefined),
};

/** A short text on a button. */
export const labelText: SettingReader<string> = {
  placeholder: '<label>',
  expected: '1 to 40 characters',
  read: (text) => (/^\P{Cc}{1,40}$/u.test(text.trim()) ? text.trim() : undefined),
};

/**
 * Reads a text with a reader and describes the problem, with `name` for the setting. Quotes the text unless it is
 * secret, without the credentials of an address.
 */
export function readSetting<Value>(
  reader: SettingReader<Value>,
  text: string,
  naming: { readonly name: string; readonly secret: boolean },
): Parsed<Value> {
  const value = reader.read(text);
  if (value !== undefined) return { ok: true, value };
  const found = naming.secret ? '' : `, not ${JSON.stringify(text.replace(CREDENTIALS, '$1[redacted]@'))}`;
  return { ok: false, problem: `${naming.name} must be ${reader.expected}${found}.` };
}

/** Up to the last `@`, because an invalid text need not be an address, and a password may contain any character. */
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/).*@|^[^@]*:.*@/is;

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
