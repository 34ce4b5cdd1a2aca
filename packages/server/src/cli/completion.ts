import { usageError } from './cli-error.ts';
import { type Catalog, type CliCommand, localCommand } from './command.ts';
import { candidatesFor, SHELLS } from './complete.ts';

/** The script of each shell. It asks this program, so it never gets old. */
const SCRIPTS = {
  bash: `_halyard() {
  local IFS=$'\n'
  COMPREPLY=($(halyard complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -F _halyard halyard
`,
  zsh: `#compdef halyard
_halyard() {
  local line
  local -a found
  for line in "\${(@f)$(halyard complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}")
  done
  _describe halyard found
}
compdef _halyard halyard
`,
  fish: `complete -c halyard -f -a '(halyard complete -- (commandline -opc)[2..] "$(commandline -ct)" 2>/dev/null)'
`,
} as const satisfies Readonly<Record<(typeof SHELLS)[number], string>>;

/** `halyard completion` */
export const completionCommand = localCommand({
  usage: 'completion <shell>',
  about: 'Print the script that completes commands, options, projects, environments and flags in your shell.',
  argumentHelp: { shell: 'bash, zsh or fish' },
  help: 'Names are asked of the server that the options and variables of the command line name.',
  examples: [
    'halyard completion bash > ~/.local/share/bash-completion/completions/halyard',
    'halyard completion zsh > ~/.zfunc/_halyard',
    'halyard completion fish > ~/.config/fish/completions/halyard.fish',
  ],
  run: ({ shell: name }, shell) => {
    const known = SHELLS.find((each) => each === name);
    if (known === undefined) throw usageError(`There is no completion for "${name}". Use bash, zsh or fish.`);
    shell.write(SCRIPTS[known]);
  },
});

/** `halyard complete`: one candidate per line, with what it is behind a tab. */
export function completeCommand(catalog: Catalog): CliCommand {
  return localCommand({
    usage: 'complete [words...]',
    about: 'Print what can follow on a command line.',
    isRedirect: true,
    run: async ({ words }, shell) => {
      const found = await candidatesFor(words, catalog, shell);
      shell.write(found.map(({ word, about }) => `${word}\t${about}\n`).join(''));
    },
  });
}
