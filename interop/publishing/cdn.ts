import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastingPort } from '@halyard/testing';
import { type ChildServer, startServer } from './children.ts';

/** Starts nginx as a cache of `origin`, with its files in `folder`. Gives why it cannot be had, if it cannot. */
export async function startCdn(folder: string, origin: string): Promise<ChildServer | string> {
  const nginx = Bun.which('nginx') ?? '/usr/sbin/nginx';
  if (!existsSync(nginx)) return 'nginx is not on this machine';
  mkdirSync(folder, { recursive: true });
  const url = `http://127.0.0.1:${lastingPort()}`;
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, configOf(folder, url.slice('http://'.length), origin));
  return await startServer([nginx, '-p', folder, '-e', 'stderr', '-c', config], url, {});
}

/** An ordinary cache that does what `Cache-Control` says, as the guide for publishing shows it. */
function configOf(folder: string, listen: string, origin: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr error;
events {}
http {
  access_log off;
${temporary.join('\n')}
  proxy_cache_path ${folder}/cache keys_zone=flags:1m inactive=2d;
  server {
    listen ${listen};
    location / {
      proxy_pass ${origin}/;
      proxy_cache flags;
      proxy_cache_lock on;
      add_header Access-Control-Allow-Origin * always;
      add_header Access-Control-Expose-Headers "Date, Age" always;
      add_header X-Cache $upstream_cache_status always;
    }
  }
}
`;
}
