import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A selection of series in a query: the metric and its label matchers. */
export interface Selector {
  readonly metric: string;
  readonly matchers: { label: string; value: string }[];
}

/** Returns the metrics and labels that a query reads. Throws for invalid PromQL. */
export const parseQuery = (query: string): { selectors: Selector[]; groupedBy: string[] } => {
  const tree = parser.parse(query);
  const selectors: Selector[] = [];
  const groupedBy: string[] = [];
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${query}`);
      if (node.name === 'VectorSelector') selectors.push(readSelector(node.node, query));
      if (node.name === 'GroupingLabels') groupedBy.push(...labelNames(node.node, query));
    },
  });
  return { selectors, groupedBy };
};

const readSelector = (node: SyntaxNode, query: string): Selector => {
  const name = node.getChild('Identifier');
  const matchers: Selector['matchers'] = [];
  node.cursor().iterate((each) => {
    if (each.name !== 'UnquotedLabelMatcher') return;
    const label = each.node.getChild('LabelName');
    const value = each.node.getChild('StringLiteral');
    if (label === null || value === null) throw new Error(`an unreadable matcher: ${query}`);
    matchers.push({ label: text(label, query), value: text(value, query).slice(1, -1) });
  });
  return { metric: name === null ? '' : text(name, query), matchers };
};

const labelNames = (node: SyntaxNode, query: string): string[] =>
  node.getChildren('LabelName').map((each) => text(each, query));

const text = ({ from, to }: SyntaxNode, query: string): string => query.slice(from, to);
