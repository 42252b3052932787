/** What happens to a block of code when its guide is followed by a script. */
export type FenceRole =
  /** Pasted into the one shell, in order; only where the command `needs` succeeds, if it is there. */
  | { readonly kind: 'run'; readonly needs?: string | undefined }
  /** The same, in another terminal that stays open. */
  | { readonly kind: 'background' }
  /** Saved under this name. */
  | { readonly kind: 'file'; readonly name: string }
  /** What the block before has written; `…` stands for anything. */
  | { readonly kind: 'output'; readonly of: 'run' | 'background' }
  /** Nothing, for this reason. */
  | { readonly kind: 'not-run'; readonly reason: string };

/** The first line of a block of code. */
export interface CodeFence {
  readonly language: string;
  /** Undefined where the fence does not say. */
  readonly role: FenceRole | undefined;
}

const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)"|=(\S+))?/g;

/**
 * Reads what stands behind the backticks: a language, then one of `run`, `run needs="command"`, `background`, `file=…`, `output`,
 * `output=background`, `not-run="…"`.
 */
export const readCodeFence = (text: string): CodeFence => {
  const [, language = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(text) ?? [];
  const attributes = [...rest.matchAll(ATTRIBUTE)].map(
    ([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''] as const,
  );
  return { language, role: attributes[0] === undefined ? undefined : toRole(attributes[0], new Map(attributes)) };
};

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
    default:
      throw new TypeError(`A block of code says \`${name}\`, which means nothing here.`);
  }
};
