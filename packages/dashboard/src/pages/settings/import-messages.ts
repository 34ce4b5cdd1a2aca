const things = (count: number, noun: string) => (count === 1 ? `1 ${noun}` : `${count} ${noun}s`);

/** The texts of the import of a document. */
export const messages = {
  title: 'Import',
  hint: 'A document that “halyard export” or an export from here wrote, or one from your repository: YAML or JSON. You see what would change before anything does.',
  choose: 'Choose a file…',
  drop: 'or drop it here',
  file: 'Document to import',
  unreadable: (name: string) => `${name} could not be read`,
  tooLarge: 'The server takes documents of up to 32 MB.',

  dialog: (name: string) => `Import ${name}`,
  policy: 'What should happen?',
  policies: {
    'create-only': ['Add what is missing', 'What the project has stays as it is.'],
    enforce: ['Make the project equal to the document', 'Also changes what differs.'],
  },
  prune: 'Also remove what the document lacks',
  pruneHint: 'Removes states and archives flags, in the environments that the document lists.',

  comparing: 'Comparing…',
  notImportable: 'The server cannot read this document:',
  noPreview: 'Nothing can be imported without seeing what it changes.',
  otherProject: (name: string) => `The document is about the project “${name}”. Import it there.`,
  notHere: 'This document is for another project.',
  openOther: 'Open its settings',
  nothing: 'Nothing to import: the project has all of this already.',
  refused: 'You may not make all of these changes, and an import is all or nothing:',
  blocked: 'Some of it is not allowed.',
  changed: (names: readonly string[]) =>
    `The project has changed in the meantime. Nothing was imported. This is the updated comparison${names.length === 0 ? '' : `; what is different: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`}.`,
  kept: (count: number) =>
    count === 1
      ? '1 thing differs from the document and stays as it is.'
      : `${count} things differ from the document and stay as they are.`,
  only: (items: readonly (readonly [noun: string, count: number])[]) =>
    `Only the project has ${items.map(([noun, count]) => `${count} ${noun}`).join(' and ')}, which stay.`,
  removals: (count: number) => `This removes or archives ${things(count, 'thing')}:`,
  whatChanges: 'What changes',
  in: 'in',
  andMore: (count: number) => `and ${count} more`,

  action: (count: number) => (count === 0 ? 'Import' : `Import ${things(count, 'change')}`),
  hasSecrets:
    'This creates keys or webhooks, whose secrets are shown once. Import the file with “halyard import” instead.',
  propose: 'Propose…',
  what: (name: string) => `import ${name}`,
  done: (name: string) => `${name} is imported`,
  differs: 'Something changed at the same moment, and the import did not do exactly what was shown.',
  history: 'See the history',
} as const;
