import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { aggregate, changes, type Element, histogramQuantile, increase, type RangeElement, rate } from './functions.ts';
import { type Labels, labelsKey, type Series, type SeriesStore } from './series.ts';

/**
 * Evaluates the subset of PromQL that our rules use, with Prometheus's published grammar, at any time of a store:
 * selectors, `offset`, rate, increase, changes, absent, histogram_quantile, sum, max, min, arithmetic, comparison,
 * `and`, `or`. Throws for anything else.
 */
export const evaluate = (query: string, store: SeriesStore, { at, isStartIncluded = false }: Moment): Element[] => {
  const tree = parser.parse(query);
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
    },
  });
  const value = visit(only(tree.topNode, query), { query, store, at, isStartIncluded });
  if (typeof value === 'number') throw new Error(`a rule is a vector, not a number: ${query}`);
  return value.map(({ labels, value: number }) => ({ labels, value: number }));
};

/** Lists the metrics that a query reads. */
export const metricsOf = (query: string): string[] => {
  const names: string[] = [];
  parser.parse(query).iterate({
    enter: ({ name, from, to }) => {
      if (name === 'Identifier') names.push(query.slice(from, to));
    },
  });
  return names;
};

export interface Moment {
  /** Seconds. */
  readonly at: number;
  /** True if a range includes its start, as before Prometheus 3.0. */
  readonly isStartIncluded?: boolean;
}

interface Context extends Required<Moment> {
  readonly query: string;
  readonly store: SeriesStore;
}

type Value = number | Element[];

/** Age in seconds beyond which an instant selector ignores a series' last sample. */
const LOOKBACK_SECONDS = 300;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const visit = (node: SyntaxNode, context: Context): Value => {
  switch (node.name) {
    case 'NumberDurationLiteral':
      return readNumber(text(node, context), context);
    case 'ParenExpr':
      return visit(only(node, context.query), context);
    case 'VectorSelector':
      return selectInstant(node, context);
    case 'OffsetExpr':
      return visit(child(node, 'VectorSelector', context), { ...context, at: context.at - offsetOf(node, context) });
    case 'AggregateExpr':
      return visitAggregate(node, context);
    case 'FunctionCall':
      return visitFunction(node, context);
    case 'BinaryExpr':
      return visitBinary(node, context);
    default:
      throw unsupported(node, context);
  }
};

const visitAggregate = (node: SyntaxNode, context: Context): Element[] => {
  const operation = only(child(node, 'AggregateOp', context), context.query).name;
  if (operation !== 'Sum' && operation !== 'Max' && operation !== 'Min') throw unsupported(node, context);
  const modifier = node.getChild('AggregateModifier');
  if (modifier !== null && modifier.getChild('By') === null) throw unsupported(modifier, context);
  const grouping = modifier?.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
  const body = only(child(node, 'FunctionCallBody', context), context.query);
  const labels = grouping.map((each) => text(each, context));
  return aggregate(operation, labels, vector(visit(body, context), body, context));
};

const visitFunction = (node: SyntaxNode, context: Context): Element[] => {
  const name = only(child(node, 'FunctionIdentifier', context), context.query).name;
  const [argument, second, ...others] = children(child(node, 'FunctionCallBody', context));
  if (argument === undefined || others.length > 0) throw unsupported(node, context);
  if (name === 'HistogramQuantile' && second !== undefined) {
    return histogramQuantile(Number(text(argument, context)), vector(visit(second, context), second, context));
  }
  if (second !== undefined) throw unsupported(node, context);
  if (name === 'Absent') return absent(argument, context);
  const range = { end: context.at, seconds: rangeSeconds(argument, context) };
  switch (name) {
    case 'Rate':
      return rate(selectRange(argument, context, range.seconds), range);
    case 'Increase':
      return increase(selectRange(argument, context, range.seconds), range);
    case 'Changes':
      return changes(selectRange(argument, context, range.seconds));
    default:
      throw unsupported(node, context);
  }
};

/** `absent`: one element if the vector is empty. It has labels only if a plain selector determines them. */
const absent = (argument: SyntaxNode, context: Context): Element[] => {
  if (vector(visit(argument, context), argument, context).length > 0) return [];
  const isSelector = argument.name === 'VectorSelector';
  const equal = isSelector ? matchersOf(argument, context).filter(({ operator }) => operator === 'EqlSingle') : [];
  return [{ labels: Object.fromEntries(equal.map(({ label, value }) => [label, value])), value: 1 }];
};

const visitBinary = (node: SyntaxNode, context: Context): Value => {
  const [left, operator, right, ...others] = children(node);
  if (left === undefined || operator === undefined || right === undefined || others.length > 0) {
    throw unsupported(node, context);
  }
  const a = visit(left, context);
  const b = visit(right, context);
  if (operator.name === 'And' || operator.name === 'Or') {
    const these = vector(a, left, context);
    const those = vector(b, right, context);
    const known = new Set((operator.name === 'And' ? those : these).map(({ labels }) => labelsKey(labels)));
    return operator.name === 'And'
      ? these.filter(({ labels }) => known.has(labelsKey(labels)))
      : [...these, ...those.filter(({ labels }) => !known.has(labelsKey(labels)))];
  }
  const calculate = calculation(operator, context);
  if (typeof b === 'number') return vector(a, left, context).flatMap(applyTo(calculate, () => b));
  const byLabels = new Map(b.map(({ labels, value }) => [labelsKey(labels), value]));
  return vector(a, left, context).flatMap(applyTo(calculate, ({ labels }) => byLabels.get(labelsKey(labels))));
};

type Calculation = (a: number, b: number) => number | undefined;

const applyTo =
  (calculate: Calculation, other: (element: Element) => number | undefined) =>
  (element: Element): Element[] => {
    const operand = other(element);
    const value = operand === undefined ? undefined : calculate(element.value, operand);
    return value === undefined ? [] : [{ labels: element.labels, value }];
  };

/** Returns the calculation of an operator. A false comparison removes the element. */
const calculation = (operator: SyntaxNode, context: Context): Calculation => {
  switch (operator.name) {
    case 'Div':
      return (a, b) => a / b;
    case 'Sub':
      return (a, b) => a - b;
    case 'Gtr':
      return (a, b) => (a > b ? a : undefined);
    case 'Lss':
      return (a, b) => (a < b ? a : undefined);
    case 'Eql':
      return (a, b) => (a === b ? a : undefined);
    default:
      throw unsupported(operator, context);
  }
};

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

const matchersOf = (selector: SyntaxNode, context: Context): Matcher[] => {
  const list = selector.getChild('LabelMatchers');
  return (list === null ? [] : children(list)).map((each) => {
    if (each.name !== 'UnquotedLabelMatcher') throw unsupported(each, context);
    return {
      label: text(child(each, 'LabelName', context), context),
      operator: only(child(each, 'MatchOp', context), context.query).name,
      value: text(child(each, 'StringLiteral', context), context).slice(1, -1),
    };
  });
};

const matches = ({ label, operator, value }: Matcher, labels: Labels): boolean => {
  const found = labels[label] ?? '';
  switch (operator) {
    case 'EqlSingle':
      return found === value;
    case 'Neq':
      return found !== value;
    case 'EqlRegex':
      return new RegExp(`^(?:${value})$`).test(found);
    case 'NeqRegex':
      return !new RegExp(`^(?:${value})$`).test(found);
    default:
      throw new Error(`a matcher that is not known: ${operator}`);
  }
};

const seriesOf = (selector: SyntaxNode, context: Context): Series[] => {
  const matchers = matchersOf(selector, context);
  const candidates = context.store.named(text(child(selector, 'Identifier', context), context));
  return candidates.filter(({ labels }) => matchers.every((matcher) => matches(matcher, labels)));
};

const selectInstant = (selector: SyntaxNode, context: Context): Element[] =>
  seriesOf(selector, context).flatMap(({ labels, samples }) => {
    const last = samples.findLast(({ at }) => at <= context.at);
    if (last?.value === undefined) return [];
    const age = context.at - last.at;
    if (age > LOOKBACK_SECONDS || (age === LOOKBACK_SECONDS && !context.isStartIncluded)) return [];
    return [{ labels, value: last.value }];
  });

const selectRange = (node: SyntaxNode, context: Context, seconds: number): RangeElement[] => {
  const start = context.at - seconds;
  const isWithin = (at: number) => (at > start || (at === start && context.isStartIncluded)) && at <= context.at;
  return seriesOf(child(node, 'VectorSelector', context), context).flatMap(({ labels, samples }) => {
    const points = samples.flatMap(({ at, value }) => (value !== undefined && isWithin(at) ? [{ at, value }] : []));
    return points.length === 0 ? [] : [{ labels, points }];
  });
};

const rangeSeconds = (node: SyntaxNode, context: Context): number => {
  if (node.name !== 'MatrixSelector') throw unsupported(node, context);
  return durationSeconds(text(only(child(node, 'DurationExpr', context), context.query), context));
};

const offsetOf = (node: SyntaxNode, context: Context): number =>
  durationSeconds(text(only(child(node, 'OffsetDurationExpr', context), context.query), context));

/** Reads `90s`, `5m`, `1h`. */
export const durationSeconds = (duration: string): number => {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  const seconds = UNIT_SECONDS[unit];
  if (seconds === undefined) throw new Error(`a duration that is not known: ${duration}`);
  return Number(count) * seconds;
};

const readNumber = (literal: string, context: Context): number => {
  const number = Number(literal);
  if (Number.isNaN(number)) throw new Error(`a number that is not known: ${literal} in ${context.query}`);
  return number;
};

const vector = (value: Value, node: SyntaxNode, context: Context): Element[] => {
  if (typeof value === 'number') throw unsupported(node, context);
  return value;
};

const children = (node: SyntaxNode): SyntaxNode[] => {
  const found: SyntaxNode[] = [];
  for (let each = node.firstChild; each !== null; each = each.nextSibling) found.push(each);
  return found;
};

const only = (node: SyntaxNode, query: string): SyntaxNode => {
  const [first, ...others] = children(node);
  if (first === undefined || others.length > 0) throw new Error(`${node.name} is not what it was taken for: ${query}`);
  return first;
};

const child = (node: SyntaxNode, name: string, context: Context): SyntaxNode => {
  const found = node.getChild(name);
  if (found === null) throw unsupported(node, context);
  return found;
};

const text = ({ from, to }: SyntaxNode, { query }: Context): string => query.slice(from, to);

const unsupported = (node: SyntaxNode, context: Context): Error =>
  new Error(`this part of PromQL is not evaluated here: ${node.name} (${text(node, context)}) in ${context.query}`);
