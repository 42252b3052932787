/** Use of a block of code when a script follows its guide. */
export type FenceRole =
  /** Pasted into the one shell, in order; skipped if the command `needs` is given and fails. */
  | { readonly kind: 'run'; readonly needs?: string | undefined }
  /** Pasted into a second terminal, which stays open. */
  | { readonly kind: 'background' }
  /** Saved under this name. */
  | { readonly kind: 'file'; readonly name: string }
  /** Expected output of the previous block; `…` stands for anything. */
  | { readonly kind: 'output'; readonly of: 'run' | 'background' }
  /** Not executed, for this reason. */
  | { readonly kind: 'not-run'; readonly reason: string }
  /** Mermaid, drawn as a diagram with this title. */
  | { readonly kind: 'diagram'; readonly title: string };

/** Languages that one example is written in, in the order of their tabs, with their labels. */
export const TAB_LABELS = {
  sdk: 'SDK',
  'openai-sdk': 'OpenAI SDK',
  typescript: 'TypeScript',
  python: 'Python',
  curl: 'curl',
} as const;

export type CodeTab = keyof typeof TAB_LABELS;

/** Info string of a block of code. */
export interface CodeFence {
  readonly language: string;
  /** Undefined if the fence names no role. */
  readonly role: FenceRole | undefined;
  /** Tab that shows the block. Neighboring blocks with a tab form one group. */
  readonly tab?: CodeTab | undefined;
}

const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)"|=(\S+))?/g;

/**
 * Parses the info string after the backticks: a language, one of `run`, `run needs="command"`, `background`, `file=…`,
 * `output`, `output=background`, `not-run="…"`, `title="…"`, then `tab=…`.
 */
export const readCodeFence = (text: string): CodeFence => {
  const [, language = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(text) ?? [];
  const attributes = [...rest.matchAll(ATTRIBUTE)].map(
    ([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''] as const,
  );
  const first = attributes.find(([name]) => name !== 'tab');
  const values = new Map(attributes);
  return { language, role: first === undefined ? undefined : toRole(first, values), tab: toTab(values.get('tab')) };
};

const toTab = (name: string | undefined): CodeTab | undefined => {
  if (name === undefined || isTab(name)) return name;
  throw new TypeError(`Unknown tab \`${name}\` of a block of code.`);
};

const isTab = (name: string): name is CodeTab => Object.hasOwn(TAB_LABELS, name);

const toRole = ([name, value]: readonly [string, string], attributes: ReadonlyMap<string, string>): FenceRole => {
  switch (name) {
    case 'run':
      return { kind: 'run', needs: attributes.get('needs') };
    case 'background':
      return { kind: 'background' };
    case 'file':
      return { kind: 'file', name: value };
    case 'output':
      return { kind: 'output', of: value === 'background' ? 'background' : 'run' };
    case 'not-run':
      return { kind: 'not-run', reason: value };
    case 'title':
      return { kind: 'diagram', title: value };
    default:
      throw new TypeError(`Unknown attribute \`${name}\` of a block of code.`);
  }
};
