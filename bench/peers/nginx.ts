import { existsSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { freePort } from '../free-port.ts';
import { startNginx } from '../nginx.ts';
import { mapText } from './flags.ts';
import { expectRight, type Peer, startProgram, versionOf, writeInput } from './peer.ts';

/** nginx with constant bytes: no flags at all, but the least that an answer of this size costs. `program` is its path. */
export function nginx(program: string): Peer {
  return {
    name: 'nginx',
    remark: 'constant bytes; the map is a file',
    serves: ['rest'],
    version: () => versionOf([program, '-v']),
    start: async (machine, flags) => {
      const map = mapText(flags);
      const constant = JSON.stringify({ flag: flags[0]?.key, enabled: true, value: flags[0]?.value });
      const server = await startNginx(
        { ...machine, nginx: program },
        { constant, file: new TextEncoder().encode(map) },
      );

      return {
        pids: [server.pid],
        one: {
          url: `${server.url}/constant`,
          headers: {},
          check: (body) => {
            expectRight(body === constant, body.slice(0, 100));
            return 1;
          },
        },
        all: {
          url: `${server.url}/file`,
          headers: {},
          check: (body) => {
            expectRight(body === map, body.slice(0, 100));
            return flags.length;
          },
        },
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
  };
}

/** nginx with nchan, which sends what is posted to a channel. `module` is the path of `ngx_nchan_module.so`. */
export function nchan(program: string, module: string): Peer {
  return {
    name: 'nginx with nchan',
    remark: 'the whole map is posted to a channel in memory; nothing is kept on disk',
    serves: ['streams'],
    version: () => versionOf([program, '-v']),
    start: async (machine, flags) => {
      const folder = temporaryFolder();
      const port = freePort();
      const url = `http://127.0.0.1:${port}`;
      const path = await writeInput(folder, 'nginx.conf', configuration(folder.path, port, module));
      const started = await startProgram(machine, {
        command: [program, '-p', folder.path, '-c', path, '-e', 'stderr'],
        readyUrl: `${url}/ready`,
      });

      const change = (serial: number) => ({
        url: `${url}/publish`,
        method: 'POST' as const,
        headers: { 'content-type': 'application/json' },
        body: mapText(flags, serial),
      });

      const { url: publishUrl, ...first } = change(0);
      await fetch(publishUrl, first);

      return {
        pids: started.pids,
        stream: {
          url: `${url}/stream`,
          headers: { Accept: 'text/event-stream' },
          opensWith: 'frame',
          change,
        },
        [Symbol.asyncDispose]: async () => {
          await started[Symbol.asyncDispose]();
          folder.remove();
        },
      };
    },
  };
}

/** The module that Debian's package has, below the folder it was unpacked into. */
export function nchanModule(folder: string): string | undefined {
  const path = `${folder}/usr/lib/nginx/modules/ngx_nchan_module.so`;
  return existsSync(path) ? path : undefined;
}

function configuration(folder: string, port: number, module: string): string {
  return `load_module ${module};
daemon off;
master_process off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 16000; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  nchan_max_reserved_memory 256M;
  client_max_body_size 16m;
  client_body_buffer_size 1m;
  server {
    listen 127.0.0.1:${port} backlog=4096;
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
    }
  }
}
`;
}
