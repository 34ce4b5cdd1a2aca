/** The panel of overrides. Loaded when it is opened. */
import type { OverriddenClient } from './override.ts';

const STYLE = `
:host { position: fixed; inset: auto 1rem 1rem auto; z-index: 2147483647; }
section { max-height: 60vh; overflow: auto; padding: 1rem; border: 1px solid #888; border-radius: 8px;
  background: Canvas; color: CanvasText; font: 14px system-ui, sans-serif; color-scheme: light dark; }
header { display: flex; justify-content: space-between; gap: 1rem; margin-bottom: 0.5rem; }
td { padding: 0.125rem 1rem 0.125rem 0; }`;

/** The part of an element that is used. */
interface Element {
  value: string;
  append(...children: readonly Element[]): void;
  appendChild(child: Element): Element;
  attachShadow(options: { readonly mode: 'open' }): Root;
  remove(): void;
}

/** The part of a shadow root that is used. */
interface Root {
  adoptedStyleSheets: readonly object[];
  replaceChildren(child: Element): void;
}

/** The part of a page that is used. */
interface Page {
  readonly document: { readonly body: Element; createElement(name: string): Element };
  readonly CSSStyleSheet: new () => { replaceSync(text: string): void };
}

/** Opens the panel; returns a function that closes it. No inline styles and no HTML, so that strict policies allow it. */
export function openPanel(flags: OverriddenClient): () => void {
  // `Page`: only pages have a document; elsewhere the first use of it throws, and opening the panel rejects.
  const { document, CSSStyleSheet } = globalThis as unknown as Page;
  const element = (name: string, members: object, ...children: readonly Element[]): Element => {
    const made = Object.assign(document.createElement(name), members);
    made.append(...children);
    return made;
  };
  const text = (name: string, textContent: string) => element(name, { textContent });

  const host = document.body.appendChild(element('halyard-overrides', {}));
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];

  const draw = () => {
    const sources = new Map(flags.overrides.list().map(({ key, source }) => [key, source]));
    const rows = Object.entries(flags.all()).map(([key, { enabled }]) => {
      const source = sources.get(key);
      const choose = () =>
        choice.value === 'server'
          ? flags.overrides.clear(key)
          : flags.overrides.set(key, choice.value === 'on');
      const choice = element(
        'select',
        { ariaLabel: key, disabled: !flags.overrides.enabled, onchange: choose },
        ...['server', 'on', 'off'].map((each) => text('option', each)),
      );
      choice.value = source ? (enabled ? 'on' : 'off') : 'server';
      const cells = [key, enabled ? 'on' : 'off', source ?? 'server'].map((each) => text('td', each));
      return element('tr', {}, ...cells, element('td', {}, choice));
    });

    const head = element(
      'header',
      {},
      text('b', `Flags of ${flags.environment}`),
      element('button', { textContent: 'Clear all', onclick: () => flags.overrides.clear() }),
      element('button', { textContent: 'Close', onclick: close }),
    );
    const table = element('table', {}, ...rows);
    root.replaceChildren(element('section', { role: 'dialog', ariaLabel: 'Flag overrides' }, head, table));
  };

  const stop = flags.onChange(draw);
  const close = () => {
    stop();
    host.remove();
  };
  draw();
  return close;
}
