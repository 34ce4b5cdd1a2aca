import { describe, expect, test } from 'bun:test';
import { SNIPPETS, snippetOf } from './snippets.ts';

const INPUT = { baseUrl: 'https://flags.example.com', environment: 'production', key: 'page-size' };

describe('snippets', () => {
  test.each(SNIPPETS)('%s names the flag and the environment, and holds no key', (name) => {
    const code = snippetOf(name, { ...INPUT, value: 10 });
    expect(code).toContain('page-size');
    expect(code).toContain('production');
    expect(code).not.toContain('proj_live_');
  });

  test.each(['JavaScript', 'React', 'OpenFeature'] as const)('%s is code that can be parsed', (name) => {
    for (const value of [undefined, true, 10, 'text', [1], { a: 1 }]) {
      const code = snippetOf(name, { ...INPUT, key: "it's", value });
      expect(() => new Bun.Transpiler({ loader: 'tsx' }).transformSync(code)).not.toThrow();
    }
  });

  test('the reader and its default are of the value’s kind', () => {
    expect(snippetOf('JavaScript', { ...INPUT, value: undefined })).toContain("isEnabled('page-size'");
    expect(snippetOf('JavaScript', { ...INPUT, value: 10 })).toContain("getValue('page-size', 0");
    expect(snippetOf('OpenFeature', { ...INPUT, value: 'x' })).toContain("getStringValue('page-size', ''");
    expect(snippetOf('OpenFeature', { ...INPUT, value: {} })).toContain("getObjectValue('page-size', {}");
  });
});
