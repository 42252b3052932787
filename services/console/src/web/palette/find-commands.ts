/** Entry of the command palette: opens a page, or acts at once. */
export interface Command {
  /** Address of a page; undefined for an act. */
  readonly to?: string;
  readonly run?: () => void;
  readonly label: string;
  /** Kind of command, such as API keys. */
  readonly group: string;
  /** True for pages of the documentation, outside of the console. */
  readonly leavesConsole?: boolean;
}

const SHOWN_MAX = 12;

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase();

/** Returns the commands that contain every typed word; those that start with the text come first. */
export const findCommands = (commands: readonly Command[], typed: string): Command[] => {
  const text = plain(typed.trim());
  const words = text.split(/\s+/);
  const found = commands.filter(({ label, group }) => words.every((word) => plain(`${label} ${group}`).includes(word)));
  const isFirst = ({ label }: Command): number => (plain(label).startsWith(text) ? 0 : 1);
  return found.toSorted((a, b) => isFirst(a) - isFirst(b)).slice(0, SHOWN_MAX);
};
