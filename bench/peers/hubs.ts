import { createHmac } from 'node:crypto';
import type { ChangeRequest } from '../raw-request.ts';
import { nginxConfig } from '../references.ts';
import { writeInput } from '../running.ts';
import { changed, mapText } from './flags.ts';
import { type RecipeInput, versionOf } from './peer.ts';

/** The secret of mercure. */
const SECRET = 'bench-key'.repeat(4);

/** nginx with nchan: `program` is nginx and the path of its module. */
export async function nchan({ program, flags, folder, port, url }: RecipeInput) {
  const [nginxPath = '', module = ''] = program.split(' ');
  const config = nginxConfig(folder.path, {
    main: `load_module ${module};\nworker_rlimit_nofile 20000;`,
    events: 16_000,
    http: `nchan_max_reserved_memory 512M;
  client_max_body_size 16m;
  client_body_buffer_size 1m;`,
    server: `listen 127.0.0.1:${port} backlog=4096;
    location = /ready { return 200 'ready'; }
    location = /publish {
      nchan_publisher;
      nchan_channel_id flags;
      nchan_message_buffer_length 1;
      nchan_message_timeout 1h;
    }
    location = /stream {
      nchan_subscriber eventsource;
      nchan_channel_id flags;
      nchan_subscriber_first_message oldest;
    }`,
  });
  const path = await writeInput(folder, 'nginx.conf', config);

  const change = (serial: number): ChangeRequest => ({
    url: `${url}/publish`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: mapText(changed(flags, serial)),
  });
  return {
    program: {
      command: [nginxPath, '-p', folder.path, '-c', path, '-e', 'stderr'],
      ready: { url: `${url}/ready` },
    },
    fill: async () => {
      const { url: publishUrl, file: _file, ...first } = change(0);
      await fetch(publishUrl, first);
    },
    stream: { url: `${url}/stream`, headers: { Accept: 'text/event-stream' }, change },
  };
}

/** mercure. Versions from 1.0 on have the keys of a publisher inside the block of an issuer. */
export async function mercure({ program, flags, folder, port, url }: RecipeInput) {
  const issuer = 'https://bench.example.com';
  const keys = `publisher_jwt ${SECRET}\n    subscriber_jwt ${SECRET}`;
  const isOld = (await versionOf([program, 'version'])).startsWith('0.');
  const caddyfile = `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  mercure {
    ${isOld ? keys : `issuer ${issuer} {\n    ${keys}\n    }`}
    anonymous
    write_timeout 0
    transport bolt {
      path ${folder.file('mercure.db')}
    }
  }
  respond /healthz 200
}
`;

  const token = jwt({ iss: issuer, mercure: { publish: ['*'] } }, SECRET);
  const path = await writeInput(folder, 'Caddyfile', caddyfile);
  return {
    program: { command: [program, 'run', '--config', path], ready: { url: `${url}/healthz` } },
    stream: {
      url: `${url}/.well-known/mercure?topic=flags`,
      headers: { Accept: 'text/event-stream' },
      opensWith: 'head' as const,
      change: (serial: number): ChangeRequest => ({
        url: `${url}/.well-known/mercure`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ topic: 'flags', data: mapText(changed(flags, serial)) }).toString(),
      }),
    },
  };
}

function jwt(claims: object, secret: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
