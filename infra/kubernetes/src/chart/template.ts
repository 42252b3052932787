import { stringify } from 'yaml';
import type { z } from 'zod';

/** Place of a value in the manifests, from which its default comes as well. */
export interface Place {
  readonly kind: string;
  /** Name of the object; without one, every object of the kind that has the path. */
  readonly name?: string;
  /** Component of the object, where two components bring one of the same name. */
  readonly component?: string;
  /** Names of fields, names of a list's items, or their indices. */
  readonly path: readonly (string | number)[];
  /** Text before the value, such as the scheme before a host. */
  readonly prefix?: string;
}

/** A value of the chart. */
export interface ChartValue {
  /** Names from the root of `values.yaml`, joined by dots. */
  readonly path: string;
  readonly meaning: string;
  /** The meaning for the Italian guide. */
  readonly italian: string;
  readonly schema: z.ZodType;
  readonly places?: readonly Place[];
  /** Fields, or items of lists, that the manifests lack and the value may add. */
  readonly additions?: readonly Place[];
  /** Default of a value that has no place. */
  readonly preset?: unknown;
}

/** Text of an action at the place of a scalar, such as `{{ .Values.host | quote }}`. */
interface Inline {
  readonly template: 'inline';
  readonly text: string;
}

/** Actions on lines below their key, which print the key's whole value. `text` depends on the indentation. */
interface Block {
  readonly template: 'block';
  readonly text: (indentation: number) => string;
}

/** A field, an item of a list or an object that exists only if all conditions hold. */
interface Conditional {
  readonly template: 'conditional';
  readonly conditions: readonly string[];
  readonly node: Node;
}

/** Actions that print whole lines at the place of a field or of an item. */
interface Lines {
  readonly template: 'lines';
  readonly text: (indentation: number) => readonly string[];
}

/** YAML with Helm's actions. */
export type Node = string | number | boolean | null | Node[] | NodeFields | Special;
type Special = (Inline | Block | Conditional | Lines) & { readonly isSpecial: true };

export interface NodeFields {
  [name: string]: Node;
}

export const inline = (text: string): Special => ({ isSpecial: true, template: 'inline', text });
export const block = (text: (indentation: number) => string): Special => ({ isSpecial: true, template: 'block', text });
export const lines = (text: (indentation: number) => readonly string[]): Special => ({
  isSpecial: true,
  template: 'lines',
  text,
});

/** Makes a node depend on conditions, which are arguments of `if`. */
export const onlyIf = (conditions: readonly string[], node: Node): Node =>
  conditions.length === 0 ? node : { isSpecial: true, template: 'conditional', conditions, node };

/** Distinguishes actions from YAML: no manifest has a field `isSpecial`. */
export const isSpecial = (node: Node | undefined): node is Special =>
  typeof node === 'object' && node !== null && 'isSpecial' in node;

/** Distinguishes objects from lists, scalars and actions. */
export const isNodeFields = (node: Node | undefined): node is NodeFields =>
  typeof node === 'object' && node !== null && !Array.isArray(node) && !isSpecial(node);

/** Returns a node without its conditions. */
export const unconditional = (node: Node | undefined): Node | undefined =>
  isSpecial(node) && node.template === 'conditional' ? node.node : node;

/** Returns the fields of an object, also if it depends on conditions; none for any other node. */
export const fieldsOf = (node: Node | undefined): NodeFields => {
  const plain = unconditional(node);
  return isNodeFields(plain) ? plain : {};
};

/** Kubernetes reads YAML 1.1, in which an unquoted `off` is a boolean. */
const YAML_1_1 = { lineWidth: 0, version: '1.1' } as const;
const STEP = 2;

/** Writes objects as the documents of one template. */
export const templateText = (objects: readonly Node[]): string =>
  `${joinGuards(objects.flatMap(documentLines)).join('\n')}\n`;

/** Joins neighbors that depend on the same condition into one `if`. */
const joinGuards = (lines: readonly string[]): string[] => {
  const joined: string[] = [];
  /** Lines that opened what is open, and the line that each `end` among the joined lines closed. */
  const open: string[] = [];
  const closed = new Map<number, string>();
  for (const line of lines) {
    const isStart = /^ *\{\{- (if|with) /.test(line);
    if (isStart && closed.get(joined.length - 1) === line) {
      closed.delete(joined.length - 1);
      joined.pop();
      open.push(line);
      continue;
    }
    if (isStart) open.push(line);
    if (/^ *\{\{- end \}\}$/.test(line)) closed.set(joined.length, open.pop() ?? '');
    joined.push(line);
  }
  return joined;
};

const documentLines = (node: Node): string[] => {
  if (isSpecial(node) && node.template === 'conditional') return guarded(node.conditions, documentLines(node.node));
  if (!isNodeFields(node)) throw new Error('A document is no object.');
  return ['---', ...fieldLines(node, 0)];
};

/** Writes fields, each on lines that start with `indentation` spaces. */
export const fieldLines = (fields: NodeFields, indentation: number): string[] =>
  Object.entries(fields).flatMap(([name, node]) => fieldLine(name, node, indentation));

const fieldLine = (name: string, node: Node, indentation: number): string[] => {
  const margin = ' '.repeat(indentation);
  const key = `${margin}${scalar(name)}:`;
  if (isSpecial(node)) {
    if (node.template === 'conditional')
      return guarded(node.conditions, fieldLine(name, node.node, indentation), indentation);
    if (node.template === 'lines') return [...node.text(indentation)];
    if (node.template === 'inline') return [`${key} ${node.text}`];
    return [key, `${margin}  ${node.text(indentation + STEP)}`];
  }
  if (Array.isArray(node) && node.length > 0)
    return [key, ...node.flatMap((item) => itemLines(item, indentation + STEP))];
  if (isNodeFields(node) && Object.keys(node).length > 0) return [key, ...fieldLines(node, indentation + STEP)];
  if (typeof node === 'string' && node.includes('\n')) return [`${key} ${literal(node, indentation + STEP)}`];
  return [`${key} ${scalar(node)}`];
};

const itemLines = (node: Node, indentation: number): string[] => {
  const margin = ' '.repeat(indentation);
  if (isSpecial(node)) {
    if (node.template === 'conditional')
      return guarded(node.conditions, itemLines(node.node, indentation), indentation);
    if (node.template === 'lines') return [...node.text(indentation)];
    if (node.template === 'inline') return [`${margin}- ${node.text}`];
    throw new Error('An item cannot be a block.');
  }
  if (!isNodeFields(node) || Object.keys(node).length === 0) return [`${margin}- ${scalar(node)}`];
  const [first = '', ...rest] = fieldLines(node, indentation + STEP);
  if (first.trimStart().startsWith('{{')) throw new Error('The first field of an item cannot depend on a condition.');
  return [`${margin}- ${first.trimStart()}`, ...rest];
};

/** Encloses lines in one `if` per condition. */
const guarded = (conditions: readonly string[], inner: readonly string[], indentation = 0): string[] => {
  const margin = ' '.repeat(indentation);
  return [
    ...conditions.map((condition) => `${margin}{{- if ${condition} }}`),
    ...inner,
    ...conditions.map(() => `${margin}{{- end }}`),
  ];
};

/** Writes a scalar or an empty collection on one line. */
const scalar = (node: Node): string => withoutActions(stringify(node, YAML_1_1).trimEnd());

const literal = (text: string, indentation: number): string => {
  const isClipped = text.endsWith('\n') && !text.endsWith('\n\n');
  if (!isClipped || /^\s/.test(text)) return withoutActions(JSON.stringify(text));
  const margin = ' '.repeat(indentation);
  const lines = text.slice(0, -1).split('\n');
  return withoutActions(['|', ...lines.map((line) => (line === '' ? '' : `${margin}${line}`))].join('\n'));
};

/** Prints braces of alerts and dashboards as they are, which Helm would take for its actions. */
const withoutActions = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');
