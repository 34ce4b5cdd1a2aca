/** Strings that have broken routers, parsers, maps or logs elsewhere. None of them can be created as a flag key. */
const FAMOUS = [
  '__proto__',
  '.',
  '..',
  '...',
  '../..',
  '../../etc/passwd',
  '..%2f..',
  '%',
  '%%',
  '%2e',
  '%2e%2e',
  '%25',
  '%00',
  '/',
  '//',
  'a/b',
  '/v1/flags',
  '\\',
  'a\\b',
  '?',
  'a?env=production',
  '#',
  'a#b',
  ';',
  'a;b',
  '&',
  'a=b',
  '+',
  ' ',
  ' lead',
  'trail ',
  'a b',
  '\t',
  '\n',
  '\r\nX-Injected: 1',
  '\0',
  'a\0b',
  '\x7f',
  '\u0085',
  '\u00a0',
  '\u200b',
  '\u202e',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\ufffd',
  '\uffff',
  'ä',
  'a\u0308',
  'ß',
  'İ',
  'ﬁ',
  '日本語',
  'עברית',
  'Ω≈ç√∫',
  '𝕳',
  '👍',
  '👨‍👩‍👧‍👦',
  '🏳️‍🌈',
  '{}',
  '[]',
  '[object Object]',
  '"',
  "'",
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '#{7*7}',
  '{{7*7}}',
  '%s%n',
  '-',
  '-1',
  '_',
  '__defineGetter__',
  ':key',
  '*',
  '(.*)',
  '|',
  '$1',
  '~',
  '`id`',
  '@',
  'a'.repeat(129),
  'a'.repeat(4000),
  '👍'.repeat(300),
] as const;

/** How many awkward strings there are. */
export const AWKWARD_COUNT = 515;

/** The same table of awkward strings every time: the famous ones, then generated ones, all different. */
export function awkwardStrings(): readonly string[] {
  const strings = new Set<string>(FAMOUS);
  const random = generator(20_261_121);
  while (strings.size < AWKWARD_COUNT) {
    const length = 1 + random(12);
    // The first character alone keeps the string out of the grammar of keys.
    let text = pick(['.', '_', '-', '%', '/', 'é', '\u0001', '\u2603', '🚀'], random);
    for (let i = 0; i < length; i++) text += character(random);
    strings.add(text);
  }
  return [...strings];
}

function character(random: (below: number) => number): string {
  switch (random(6)) {
    case 0:
      return String.fromCodePoint(random(0x20));
    case 1:
      return String.fromCodePoint(0x20 + random(0x5f));
    case 2:
      return pick(['%', '/', '.', '\\', '%2F', '%2e', '%00', ';', '?', '#'], random);
    case 3:
      return String.fromCodePoint(0x80 + random(0x700));
    case 4:
      // Below the surrogates, so that every string can be encoded.
      return String.fromCodePoint(0x800 + random(0xcfff - 0x800));
    default:
      return String.fromCodePoint(0x1f300 + random(0x2ff));
  }
}

function pick(from: readonly string[], random: (below: number) => number): string {
  return from[random(from.length)] ?? '.';
}

/** A small linear congruential generator: reproducible, and good enough to mix characters. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
