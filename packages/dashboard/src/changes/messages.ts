/** The texts of changing a flag's state. */
export const messages = {
  removed: 'removed',

  // Permission
  viewerCannotChange: "You're a viewer, so you can't change anything.",
  protectedFromYou: (environment: string) =>
    `${environment} is protected, and you don't have permission to change it.`,

  // The question before a change of a protected environment
  guardTitle: 'Change a protected environment',
  proposeTitle: 'Propose the change',
  reasonTitle: 'Reason for the change',

  // Writing a state
  undo: 'Undo',
  undone: (seq: number) => `Change ${seq} undone`,
  undoFailed: (seq: number) => `Change ${seq} could not be undone`,
  stateIs: (key: string, state: string, environment: string) => `${key} is ${state} in ${environment}`,
  valueSaved: (key: string, environment: string) => `Value of ${key} saved in ${environment}`,
  withNewValue: (state: string) => `${state}, with a new value`,
  stateNotChanged: (key: string, environment: string) => `${key} in ${environment} was not changed`,

  // The answer to a change was lost
  checking: (what = 'the change') => `Unknown: checking whether ${what} was saved…`,
  answerLost: (what?: string) => `Saved${what === undefined ? '' : `: ${what}`}. The answer was lost.`,
  outcomeUnknown: (what = 'the change') => `Unknown whether ${what} was saved`,
  lookFirst: 'Look at the history before you try again.',

  // Conflict
  conflictTitle: 'There is a newer version',
} as const;
