import type { Command } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** Returns a script that completes commands and their options in a shell. */
export const completionFor = (shell: (typeof shells)[number], commands: readonly Command[]): string =>
  shell === 'fish' ? forFish(commands) : `${shell === 'zsh' ? FOR_ZSH : ''}${forBash(commands)}`;

const FOR_ZSH = 'autoload -U +X bashcompinit && bashcompinit\n';

const optionsOf = ({ options = {} }: Command): string[] => [...Object.keys(options), 'json', 'context', 'help'];

/** First words of commands with the words that may follow each. */
const groupsOf = (commands: readonly Command[]): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const {
    words: [first = '', second],
  } of commands) {
    groups.set(first, [...(groups.get(first) ?? []), ...(second === undefined ? [] : [second])]);
  }
  return groups;
};

const forBash = (commands: readonly Command[]): string => {
  const groups = [...groupsOf(commands)].filter(([, seconds]) => seconds.length > 0);
  const cases = [
    `    '1 '*) words='${[...groupsOf(commands).keys(), 'help', 'completion'].join(' ')}' ;;`,
    ...groups.map(([first, seconds]) => `    '2 ${first} '*) words='${seconds.join(' ')}' ;;`),
    ...commands.map(
      (command) =>
        `    *' ${command.words.join(' ')} '*) words='${optionsOf(command)
          .map((name) => `--${name}`)
          .join(' ')}' ;;`,
    ),
  ];
  return `_svc() {
  local words=''
  case "$COMP_CWORD \${COMP_WORDS[1]} \${COMP_WORDS[2]} " in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc`;
};

const forFish = (commands: readonly Command[]): string =>
  [
    ...[...groupsOf(commands)].flatMap(([first, seconds]) => [
      `complete -c svc -f -n __fish_use_subcommand -a ${first}`,
      ...seconds.map((second) => `complete -c svc -f -n '__fish_seen_subcommand_from ${first}' -a ${second}`),
    ]),
    ...commands.flatMap((command) =>
      optionsOf(command).map(
        (name) => `complete -c svc -n '__fish_seen_subcommand_from ${command.words.at(-1)}' -l ${name}`,
      ),
    ),
  ].join('\n');
