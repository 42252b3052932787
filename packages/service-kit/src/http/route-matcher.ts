import type { PathEntry } from './route-table.ts';

export interface RouteMatch {
  readonly entry: PathEntry;
  /** Decodes the values of the path's parameters. Throws URIError if one cannot be decoded. */
  readonly readParams: () => Readonly<Record<string, string>>;
}

/** Finds the entry at a path. */
export type MatchRoute = (path: string) => RouteMatch | undefined;

/** A path with parameters, and the places of their segments. */
interface Template {
  readonly entry: PathEntry;
  readonly parameters: readonly { readonly name: string; readonly at: number }[];
  /** True if the last parameter takes the rest of the path. */
  readonly takesRest: boolean;
}

/** A segment of the templates, with those that may follow it. */
interface Node {
  readonly fixed: Map<string, Node>;
  /** Follows if the segment is a parameter. */
  parameter: Node | undefined;
  /** Ends here. */
  whole: Template | undefined;
  /** Ends here with a parameter that takes the rest. */
  open: Template | undefined;
}

/**
 * Creates the look-up of a table. Letter case and a trailing slash count, a fixed segment goes before a parameter, and a
 * parameter is never empty.
 */
export const createRouteMatcher = (table: readonly PathEntry[]): MatchRoute => {
  const fixed = new Map<string, RouteMatch>();
  const root = createNode();
  for (const entry of table) {
    if (entry.path.includes('{')) plant(root, entry);
    else fixed.set(entry.path, { entry, readParams: () => ({}) });
  }
  return (path) => fixed.get(path) ?? matchTemplate(root, path.split('/'));
};

const createNode = (): Node => ({ fixed: new Map(), parameter: undefined, whole: undefined, open: undefined });

const plant = (root: Node, entry: PathEntry): void => {
  const segments = entry.path.split('/');
  const parameters = segments.flatMap((segment, at) =>
    segment.startsWith('{') ? [{ name: segment.slice(1, -1), at }] : [],
  );
  const takesRest = [...entry.routes.values()].some((route) => route.takesRest === true);
  let node = root;
  for (const segment of takesRest ? segments.slice(0, -1) : segments) node = follow(node, segment);
  node[takesRest ? 'open' : 'whole'] = { entry, parameters, takesRest };
};

const follow = (node: Node, segment: string): Node => {
  const isParameter = segment.startsWith('{');
  const next = (isParameter ? node.parameter : node.fixed.get(segment)) ?? createNode();
  if (isParameter) node.parameter = next;
  else node.fixed.set(segment, next);
  return next;
};

const matchTemplate = (root: Node, segments: readonly string[]): RouteMatch | undefined => {
  const template = find(root, segments, 0);
  return template && { entry: template.entry, readParams: () => readParams(template, segments) };
};

const find = (node: Node, segments: readonly string[], at: number): Template | undefined => {
  const segment = segments[at];
  if (segment === undefined) return node.whole;
  const { parameter } = node;
  const next = node.fixed.get(segment);
  return (
    (next && find(next, segments, at + 1)) ??
    (segment !== '' && parameter ? find(parameter, segments, at + 1) : undefined) ??
    // The rest is not empty, but its segments may be.
    (segment !== '' || at < segments.length - 1 ? node.open : undefined)
  );
};

const readParams = (
  { parameters, takesRest }: Template,
  segments: readonly string[],
): Readonly<Record<string, string>> => {
  const params: Record<string, string> = {};
  for (const [place, { name, at }] of parameters.entries()) {
    const isRest = takesRest && place === parameters.length - 1;
    params[name] = decodeURIComponent(isRest ? segments.slice(at).join('/') : (segments[at] ?? ''));
  }
  return params;
};
