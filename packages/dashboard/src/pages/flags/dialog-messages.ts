/** The texts of what is loaded when it is needed: the dialogs of the flag list, and its actions on selected flags. */
export const messages = {
  create: {
    valueKind: 'Kind of value',
    key: 'Key',
    keyHint: "The name your code uses. It can't be changed later.",
    keyMissing: 'Enter a key.',
    keyRule: 'Use letters, digits, ".", "_" and "-". Start with a letter or digit.',
    keyTaken: 'A flag with this key already exists.',
    description: 'Description',
    descriptionHint: 'What it does, and when it can be removed.',
    tags: 'Tags',
    tagsHint: 'Enter adds a tag.',
    owner: 'Owner',
    ownerHint: 'Person or team.',
    initialState: 'Initial state',
    initialStateIn: (environment: string) => `Initial state in ${environment}`,
    notAllowed: "You can't change this",
    submit: 'Create flag',
  },

  bulk: {
    selected: (count: number, hidden: number) =>
      `${count} selected${hidden > 0 ? `, ${hidden} not shown` : ''}`,
    deselectHidden: 'Deselect hidden',
    turnOn: 'Turn on in',
    turnOff: 'Turn off in',
    copy: 'Copy to…',
    describe: 'Tags and owner',
    archive: 'Archive',
    clear: 'Clear',
    already: (enabled: boolean, environment: string) =>
      `All selected flags are already ${onOff(enabled)} in ${environment}`,
    done: (count: number, enabled: boolean, environment: string) =>
      `${count} ${count === 1 ? 'flag is' : 'flags are'} ${onOff(enabled)} in ${environment}`,
    failed: 'No flags were changed',
  },

  describe: {
    title: (count: number) => `Tags and owner of ${count === 1 ? '1 flag' : `${count} flags`}`,
    add: 'Add tags',
    addHint: 'Enter adds a tag.',
    remove: 'Remove tags',
    owner: 'New owner',
    ownerHint: 'Leave empty to keep the owners.',
    nothing: 'Add or remove a tag, or enter an owner.',
    submit: 'Change flags',
    done: (count: number) => `${count === 1 ? '1 flag' : `${count} flags`} updated`,
    failed: (count: number, of: number) => `${count} of ${of} flags not updated`,
  },
} as const;

function onOff(enabled: boolean): string {
  return enabled ? 'on' : 'off';
}
