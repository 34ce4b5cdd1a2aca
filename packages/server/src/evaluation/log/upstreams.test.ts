import { expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { ServiceError } from '../../domain/errors.ts';
import { createLogger } from '../../observability/logger.ts';
import { ADA, changing, seed } from '../../storage/test-records.ts';
import { BEHIND } from './messages.ts';
import { WHOLE_LOG } from './scope.ts';
import { closeAtEnd, follow, openStore, openUpstream } from './test-upstream.ts';
import { Upstreams } from './upstreams.ts';

setDefaultTimeout(60_000);

const LOG = createLogger({ level: 'silent', format: 'json' });

/** A place that refuses every follower, and how often it was asked. */
function refuse(answer: () => Response) {
  const place = { url: '', asked: 0 };
  const fetch = () => {
    place.asked++;
    return answer();
  };
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
  closeAtEnd(() => server.stop(true));
  return Object.assign(place, { url: server.url.origin });
}

test('of several upstreams the next is tried where one is away, behind or busy, and one that works is kept', async () => {
  const home = await openStore();
  await seed(home.store);
  const [first, second] = [await openUpstream(home), await openUpstream(home)];
  const behind = refuse(() => Response.json({ error: BEHIND }, { status: 503 }));
  const busy = refuse(() =>
    Response.json({ error: 'busy' }, { status: 503, headers: { 'Retry-After': '60' } }),
  );
  const urls = ['http://127.0.0.1:1', behind.url, busy.url, first.url, second.url];
  const source = new Upstreams({ urls, token: () => 'token', log: LOG, random: () => 0 });
  const { plane, heard } = follow(source);
  await plane.firstLive;
  expect([source.followed, behind.asked, busy.asked]).toEqual([first.url, 1, 1]);

  first[Symbol.dispose]();
  await until('the second is followed', () => heard.at(-1) === 'live 2' && source.followed === second.url);
  // It continued: nothing was loaded again.
  expect(heard).toEqual(['loaded 2', 'live 2', 'lost', 'live 2']);
  expect(source.states().filter(({ isFollowed }) => isFollowed)).toEqual([
    { url: second.url, isFollowed: true },
  ]);

  second[Symbol.dispose]();
  await until('the first ones are tried again', () => behind.asked > 2);
  // It has asked to be left alone for a minute.
  expect([source.followed, busy.asked]).toEqual([undefined, 1]);
  await expect(source.open(plane.follower.cursor)).rejects.toThrow(/cannot be reached.*is behind.*later/s);
});

test('a new token takes over without a loss; a refused one changes nothing; another scope loads again', async () => {
  const home = await openStore();
  const { project, environment } = await seed(home.store);
  const part = { projects: new Set([project.id]) };
  const upstream = await openUpstream(home, {
    authorize: ({ headers }) => {
      const token = headers.get('Authorization') ?? '';
      if (token.includes('wrong')) throw new ServiceError('invalid_access_token', 'wrong');
      return { id: token, scope: token.includes('part') ? part : WHOLE_LOG };
    },
  });
  let token = 'old';
  const source = new Upstreams({ urls: [upstream.url], token: () => token, log: LOG });
  const { plane, heard, rows } = follow(source);
  await plane.firstLive;

  let value = 0;
  const change = async () => {
    for (let n = 0; n < 10; n++)
      await home.store.commit(
        ADA,
        changing(environment, ['checkout', `{"enabled":true,"value":${++value}}`]),
      );
  };
  const followers = () => [...upstream.logServer.takeContacts()];
  followers();
  token = 'new';
  // Changes that are made while the connection is replaced: none is missing or comes twice.
  await Promise.all([change(), source.renewToken()]);
  await change();
  await until('the old connection has ended', () => upstream.logServer.followers === 1);
  followers();
  expect(followers()).toEqual(['Bearer new']);
  await until('all changes are there', () => rows.length === 20);
  expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, n) => n + 3));

  token = 'wrong';
  await source.renewToken();
  await change();
  await until('it still follows', () => rows.length === 30);
  expect([followers(), heard]).toEqual([['Bearer new'], ['loaded 2', 'live 2']]);
  // The file still holds it when the connection breaks.
  upstream.logServer.lost();
  await until('it follows again', () => heard.filter((each) => each === 'live 32').length === 1);
  expect(heard.slice(2)).toEqual(['lost', 'live 32']);

  token = 'part';
  await source.renewToken();
  await until('it has loaded its part', () => heard.at(-1) === 'live 32' && heard.includes('loaded 32'));
  expect(followers()).toContain('Bearer part');
});
