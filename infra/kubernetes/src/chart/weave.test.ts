import { describe, expect, test } from 'vitest';
import type { Manifest } from '../kustomize/manifest.ts';
import { isNodeFields, templateText } from './template.ts';
import { weave } from './weave.ts';

const job = (spec: Manifest['spec']): Manifest => ({ apiVersion: 'v1', kind: 'Job', metadata: { name: 'a' }, spec });
const conditions = ['', '.Values.first', '.Values.second'];
const textOf = (...states: Manifest[][]): string =>
  templateText(weave(states, (state) => conditions.slice(state, state + 1).filter((condition) => condition !== '')));

describe('weave', () => {
  test('makes fields, items and objects depend on the layer that adds them', () => {
    const account: Manifest = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'b' } };
    const one = { name: 'ONE', value: '1' };
    const two = { name: 'TWO', value: '2' };
    const three = { name: 'THREE', value: '3' };
    expect(
      textOf(
        [job({ env: [one] })],
        [job({ env: [two, three, one] })],
        [job({ env: [two, three, one], paused: true }), account],
      ),
    ).toBe(`---
apiVersion: v1
kind: Job
metadata:
  name: a
spec:
  env:
    {{- if .Values.first }}
    - name: TWO
      value: "2"
    - name: THREE
      value: "3"
    {{- end }}
    - name: ONE
      value: "1"
  {{- if .Values.second }}
  paused: true
  {{- end }}
{{- if .Values.second }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: b
{{- end }}
`);
  });

  test.each([
    ['a scalar', { limit: 1 }, { limit: 2 }],
    ['an item', { env: [{ name: 'ONE', value: '1' }] }, { env: [{ name: 'ONE', value: '2' }] }],
    ['a list', { args: ['one'] }, { args: ['two'] }],
    ['a removed field', { limit: 1, other: 1 }, { limit: 1 }],
    ['a removed item', { args: ['one', 'two'] }, { args: ['two'] }],
  ])('refuses a layer that changes %s', (_, before, after) => {
    expect(() => textOf([job(before)], [job(after)])).toThrow(/A component changes/);
  });

  test('keeps the braces of alerts and dashboards from Helm', () => {
    const [node] = weave([[job({ summary: '{{ $value }} requests\n' })]], () => []);
    expect(isNodeFields(node)).toBe(true);
    expect(templateText(node === undefined ? [] : [node])).toContain('{{ "{{" }} $value }} requests');
  });
});
