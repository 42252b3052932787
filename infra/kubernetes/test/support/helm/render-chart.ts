import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { type Part, parseTemplate } from './parse.ts';

/** Data of a template: values, and facts of the release and of the chart. */
interface Context {
  readonly root: Record<string, unknown>;
  readonly dot: unknown;
  readonly variables: ReadonlyMap<string, unknown>;
  readonly defined: ReadonlyMap<string, Part[]>;
}

const CHART = new URL('../../../chart/svc/', import.meta.url);
const TEMPLATES = new URL('templates/', CHART);
const read = (path: string): string => readFileSync(new URL(path, CHART), 'utf8');

/** Returns the chart's defaults. */
export const defaultValues = (): Record<string, unknown> => parse(read('values.yaml'), { version: '1.1' });

/** Merges values over defaults like Helm: objects by their fields, everything else as a whole. */
export const mergeValues = (defaults: unknown, values: unknown): unknown => {
  if (!isRecord(defaults) || !isRecord(values)) return values;
  const merged = { ...defaults };
  for (const [name, value] of Object.entries(values))
    merged[name] = name in merged ? mergeValues(merged[name], value) : value;
  return merged;
};

/**
 * Renders the chart by the part of Helm's language that it uses. Keys are names of templates. Throws for a function, a
 * variable or a value that does not exist.
 */
export const renderChart = (values: object = {}, namespace = 'svc'): Map<string, string> => {
  const names = readdirSync(TEMPLATES).sort();
  const templates = names.map((name) => [name, parseTemplate(readFileSync(new URL(name, TEMPLATES), 'utf8'))] as const);
  const defined = new Map(templates.flatMap(([, template]) => [...template.defined]));
  const root = {
    Values: mergeValues(defaultValues(), values),
    Release: { Name: 'svc', Namespace: namespace, Service: 'Helm' },
    Chart: { AppVersion: String(parse(read('Chart.yaml')).appVersion) },
  };
  const context = { root, dot: root, variables: new Map<string, unknown>(), defined };
  return new Map(
    templates
      .filter(([name]) => !name.startsWith('_'))
      .map(([name, { parts }]) => [name, renderParts(parts, context)] as const),
  );
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const renderParts = (parts: readonly Part[], context: Context): string =>
  parts.map((part) => renderPart(part, context)).join('');

const renderPart = (part: Part, context: Context): string => {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'print':
      return printed(evaluate(part.pipeline, context));
    case 'if':
    case 'with': {
      const value = evaluate(part.pipeline, context);
      if (isEmpty(value)) return renderParts(part.otherwise, context);
      return renderParts(part.then, part.kind === 'with' ? { ...context, dot: value } : context);
    }
    case 'range': {
      const value = evaluate(part.pipeline, context);
      const entries = isRecord(value) ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
      if (!isRecord(value)) throw new Error(`range ${part.pipeline}: only maps are supported.`);
      return entries
        .map(([key, item]) => {
          const [keyName = '', itemName = ''] = part.names;
          const variables = new Map([...context.variables, [keyName, key], [itemName, item]]);
          return renderParts(part.then, { ...context, dot: item, variables });
        })
        .join('');
    }
  }
};

/** Go's idea of an empty value. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

const printed = (value: unknown): string => {
  if (typeof value === 'object' || value === undefined) throw new Error('A template prints a value that is no scalar.');
  return String(value);
};

/** Evaluates commands joined by `|`: each gets the result of the former one as its last argument. */
const evaluate = (pipeline: string, context: Context): unknown => {
  let result: unknown[] = [];
  for (const command of splitPipeline(pipeline)) result = [call(command, result, context)];
  return result[0];
};

const WORD = /"(?:[^"\\]|\\.)*"|[^\s"|]+|\|/g;

const splitPipeline = (pipeline: string): string[][] => {
  const commands: string[][] = [[]];
  for (const [word] of pipeline.matchAll(WORD)) {
    if (word === '|') commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands;
};

const call = ([name = '', ...words]: string[], piped: unknown[], context: Context): unknown => {
  const isOperand = /^["$.\d]/.test(name);
  if (isOperand && words.length + piped.length === 0) return operand(name, context);
  const run = FUNCTIONS[name];
  if (run === undefined) throw new Error(`The function ${name} is not supported.`);
  return run([...words.map((word) => operand(word, context)), ...piped], context);
};

const operand = (word: string, { root, dot, variables }: Context): unknown => {
  if (word.startsWith('"')) return JSON.parse(word);
  if (/^\d+$/.test(word)) return Number(word);
  if (variables.has(word)) return variables.get(word);
  const [start = '', ...names] = word.split('.');
  if (start !== '' && start !== '$') throw new Error(`${word} is neither a path nor a variable.`);
  let value: unknown = start === '$' ? root : dot;
  for (const name of names.filter((each) => each !== '')) {
    if (!isRecord(value) || !(name in value)) throw new Error(`${word} does not exist.`);
    value = value[name];
  }
  return value;
};

const indent = (text: string, columns: number): string => text.replaceAll(/^/gm, ' '.repeat(columns));

const FUNCTIONS: Readonly<Record<string, (values: unknown[], context: Context) => unknown>> = {
  quote: ([value]) => JSON.stringify(printed(value)),
  toYaml: ([value]) => stringify(value, { lineWidth: 0, version: '1.1' }).trimEnd(),
  nindent: ([columns, text]) => `\n${indent(String(text), Number(columns))}`,
  sha256sum: ([text]) => hash('sha256', String(text), 'hex'),
  default: ([preset, value]) => (isEmpty(value) ? preset : value),
  eq: ([one, other]) => one === other,
  include: ([name, dot], context) => {
    const parts = context.defined.get(String(name));
    if (parts === undefined) throw new Error(`The template ${String(name)} does not exist.`);
    return renderParts(parts, { ...context, dot });
  },
};
