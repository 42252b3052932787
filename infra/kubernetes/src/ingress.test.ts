import { describe, expect, test } from 'vitest';
import { matchesRule, pathRules, type RoutedPath } from './ingress.ts';

const route = (path: string, service: RoutedPath['service']): RoutedPath => ({ path, service });

describe('the minimal rules', () => {
  test('are one prefix for a subtree with one owner', () => {
    const rules = pathRules([route('/a/b', 'auth'), route('/a/{id}/c', 'auth'), route('/x', 'billing')]);
    expect(rules).toEqual([
      { kind: 'prefix', path: '/a', service: 'auth' },
      { kind: 'prefix', path: '/x', service: 'billing' },
    ]);
  });

  test('name every route below a prefix that is shared', () => {
    const rules = pathRules([route('/a', 'auth'), route('/a/{id}', 'auth'), route('/a/{id}/hook/now', 'billing')]);
    expect(rules).toEqual([
      { kind: 'exact', path: '/a', service: 'auth' },
      { kind: 'pattern', path: '/a/[^/]+', service: 'auth' },
      { kind: 'pattern', path: '/a/[^/]+/hook(/.*)?', service: 'billing' },
    ]);
  });

  test('take a dot for a dot', () => {
    const [rule] = pathRules([route('/.known/a.json', 'auth')]);
    expect(rule && matchesRule(rule, '/.known/x')).toBe(true);
    expect(rule && matchesRule(rule, '/xknown/a.json')).toBe(false);
  });
});

describe('throws for paths that no rule can distinguish', () => {
  test('two owners of one path', () => {
    expect(() => pathRules([route('/a/{id}', 'auth'), route('/a/{name}', 'billing')])).toThrow('claim');
  });

  test('a parameter and a literal of different owners in one place', () => {
    expect(() => pathRules([route('/a/{id}', 'auth'), route('/a/me', 'billing')])).toThrow('compete');
  });
});
