import { mkdirSync, writeFileSync } from 'node:fs';
import { guardProcess, temporaryFolder } from '@halyard/testing';
import { freePort } from './free-port.ts';
import { type Machine, pin } from './machine.ts';
import { PATIENCE_MS } from './within.ts';

/** An nginx that answers constant bytes: `/constant` by `return 200`, `/file` from a file. */
export interface Nginx extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Starts one nginx process with these bodies. It cannot outlive this one. Rejects when it does not come up. */
export async function startNginx(
  machine: Machine & { readonly nginx: string },
  bodies: { readonly constant: string; readonly file: Uint8Array },
): Promise<Nginx> {
  const folder = temporaryFolder();
  const port = freePort();
  mkdirSync(folder.file('root'));
  writeFileSync(folder.file('root/file'), bodies.file);
  writeFileSync(folder.file('nginx.conf'), configuration(folder.path, port, bodies.constant));
  const child = Bun.spawn(
    [machine.nginx, '-p', folder.path, '-c', folder.file('nginx.conf'), '-e', 'stderr'],
    {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    },
  );
  const guard = guardProcess(child.pid);
  const stop = async () => {
    child.kill('SIGTERM');
    await child.exited;
    guard.release();
    folder.remove();
  };
  const url = `http://127.0.0.1:${port}`;
  if (!(await answers(`${url}/constant`))) {
    await stop();
    throw new Error(`nginx did not start: ${await new Response(child.stderr).text()}`);
  }
  await pin(machine, child.pid, 'server');
  return { url, pid: child.pid, [Symbol.asyncDispose]: stop };
}

function configuration(folder: string, port: number, constant: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  sendfile on;
  tcp_nopush on;
  open_file_cache max=10;
  keepalive_requests 1000000000;
  types {}
  default_type application/json;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/root;
    location = /constant { return 200 '${constant.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'; }
  }
}
`;
}

/** Polls, because nginx does not report when it listens. */
async function answers(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      return (await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })).ok;
    } catch {
      // Not yet.
      await Bun.sleep(10);
    }
  }
  return false;
}
