import { beforeEach, describe, expect, test } from 'bun:test';
import { ManagementApp } from './management-app.ts';
import type { ProposalDesk } from './proposal-desk.ts';

const NO_PROPOSALS: ProposalDesk = {
  propose: () => Promise.reject(new Error('nothing is proposed here')),
  emergency: () => {
    throw new Error('nothing is an emergency here');
  },
};

describe('routes', () => {
  let app: ManagementApp;
  beforeEach(() => {
    app = new ManagementApp({ proposals: NO_PROPOSALS });
    for (const route of [
      'GET /flags',
      'POST /flags/archive',
      'GET /flags/{key}',
      'POST /flags/{key}/archive',
      'POST /flags/{key}/{what}',
      'DELETE /flags/{key}',
      'PUT /environments/{environment}/flags/{key}',
      'DELETE /environments/{name}',
    ]) {
      const [method = '', path = ''] = route.split(' ');
      app.add({ method, path, answer: () => new Response(route) });
    }
  });

  function found(method: string, path: string) {
    const { route, params } = app.find(method, path) ?? {};
    return route && [`${route.method} ${route.path}`, params];
  }

  test.each([
    ['GET', '/flags', 'GET /flags', {}],
    ['GET', '/flags/a', 'GET /flags/{key}', { key: 'a' }],
    ['POST', '/flags/a/archive', 'POST /flags/{key}/archive', { key: 'a' }],
    ['POST', '/flags/a/copy', 'POST /flags/{key}/{what}', { key: 'a', what: 'copy' }],
    [
      'PUT',
      '/environments/e/flags/a',
      'PUT /environments/{environment}/flags/{key}',
      { environment: 'e', key: 'a' },
    ],
    ['DELETE', '/environments/e', 'DELETE /environments/{name}', { name: 'e' }],
  ])('%s %s is answered by %s', (method, path, route, params) => {
    expect<unknown>(found(method, path)).toEqual([route, params]);
  });

  test('a name wins over a parameter, and leaves it what it does not answer itself', () => {
    expect<unknown>(found('POST', '/flags/archive')).toEqual(['POST /flags/archive', {}]);
    expect<unknown>(found('GET', '/flags/archive')).toEqual(['GET /flags/{key}', { key: 'archive' }]);
    expect<unknown>(found('POST', '/flags/archive/archive')).toEqual([
      'POST /flags/{key}/archive',
      { key: 'archive' },
    ]);
  });

  test.each([
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['caf%C3%A9', 'café'],
    ['a%', 'a%'],
    ['__proto__', '__proto__'],
  ])('the parameter %s is decoded once', (sent, key) => {
    expect(app.find('GET', `/flags/${sent}`)?.params).toEqual({ key });
  });

  test.each([
    ['GET', '/'],
    ['GET', '/flags/'],
    ['GET', '/flags//archive'],
    ['GET', '/environments//flags/a'],
    ['POST', '/flags/a/archive/'],
    ['GET', '/Flags'],
    ['PUT', '/flags/a'],
    ['GET', '/constructor'],
  ])('%s %s is not a route', (method, path) => {
    expect(app.find(method, path)).toBeUndefined();
  });

  test('GET also answers HEAD', () => {
    expect<unknown>(found('HEAD', '/flags/a')).toEqual(['GET /flags/{key}', { key: 'a' }]);
    expect(app.find('HEAD', '/environments/e')).toBeUndefined();
  });

  test.each([
    ['/flags', ['GET', 'HEAD']],
    ['/flags/a', ['DELETE', 'GET', 'HEAD']],
    ['/flags/archive', ['DELETE', 'GET', 'HEAD', 'POST']],
    ['/environments/e', ['DELETE']],
    ['/environments', []],
    ['/nowhere', []],
  ])('%s takes the methods %j', (path, methods) => {
    expect(app.methodsOf(path)).toEqual(methods);
  });
});
