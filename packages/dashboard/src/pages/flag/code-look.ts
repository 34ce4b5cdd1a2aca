import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The editor in the colours of the page, which change with its theme. */
export const codeLook = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--ink)', maxHeight: '24rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    lineHeight: '20px',
    overflow: 'auto',
  },
  '.cm-content': { padding: '6px 0', minHeight: '58px', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 10px' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--danger-soft)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--danger)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--danger)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
});

/** Colours of the parts of JSON; each is readable on the editor's ground in light and dark. */
export const codeColors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--env-blue)' },
  { tag: [tags.bool, tags.null], color: 'var(--env-violet)' },
  { tag: tags.punctuation, color: 'var(--ink-2)' },
]);
