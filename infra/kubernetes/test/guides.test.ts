import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { callersOf, serviceNames as owners } from '@svc/contracts';
import { describeSettings } from '@svc/service-kit';
import { describe, expect, test } from 'vitest';
import { listAt, textAt } from '../src/kustomize/manifest.ts';
import { readCompose, variablesIn } from './support/compose.ts';
import { configSchemaOf } from './support/config-schemas.ts';
import { ofKind, overlay, serviceNames } from './support/overlays.ts';

const ROOT = new URL('../../../', import.meta.url);
const LANGUAGES = ['', 'it/'] as const;
const guide = (name: string, language: string): string =>
  readFileSync(new URL(`docs/guides/${language}${name}.md`, ROOT), 'utf8');

/** Rows of the Markdown table whose heading matches, as texts of their cells. */
const tableAfter = (text: string, heading: RegExp): string[][] => {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => heading.test(line));
  if (start < 0) throw new Error(`no table begins with ${heading}`);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};

/** Code spans of a text, sorted. */
const spansOf = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span).sort();

/** Secrets that make-env.sh prints, without the choice of a payment provider and the digests. */
const printedSecrets = (): string[] =>
  execFileSync(fileURLToPath(new URL('infra/docker/make-env.sh', ROOT)), { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split('=')[0] ?? '')
    .filter((name) => name !== '' && !name.startsWith('PAYMENTS'));

/** Property names by path of the secret store, from every overlay. */
const storedSecrets = (): Map<string, Set<string>> => {
  const stored = new Map<string, Set<string>>();
  for (const name of ['production', 'with-single-sign-on'] as const) {
    for (const external of ofKind(overlay(name), 'ExternalSecret')) {
      for (const item of listAt(external, 'spec', 'data')) {
        const path = textAt(item, 'remoteRef', 'key');
        stored.set(path, (stored.get(path) ?? new Set()).add(textAt(item, 'remoteRef', 'property')));
      }
    }
  }
  return stored;
};

describe.each(LANGUAGES)('the guides in docs/guides/%s', (language) => {
  test('list the paths and properties of the secret store that the manifests read', () => {
    const rows = tableAfter(guide('operators', language), /^\| (path|percorso) \|/);
    const written = new Map(
      rows.map(([path, properties]) => [
        spansOf(path)[0],
        spansOf(properties).filter((property) => /^[A-Z_]+$|\.pem$/.test(property)),
      ]),
    );
    const stored = [...storedSecrets()].map(([path, names]) => [path, [...names].sort()] as const);
    // Keys of providers have the names that the owner's routes file gives them.
    expect(Object.fromEntries(written)).toEqual({ ...Object.fromEntries(stored), 'svc/providers': [] });
  });

  test('list the callers that each service accepts, as the contract has them', () => {
    const rows = tableAfter(guide('operators', language), /^\| (service|servizio) \| (accepts|accetta) \|/);
    const written = rows.flatMap(([names = '', callers]) =>
      names.split(', ').map((service) => [service, spansOf(callers)] as const),
    );
    const accepted = owners.map((service) => [service, [...callersOf(service)].sort()] as const);
    expect(Object.fromEntries(written)).toEqual(
      Object.fromEntries(accepted.filter(([, callers]) => callers.length > 0)),
    );
  });

  test('say how to rotate every secret of a service, of the secret store and of .env', async () => {
    const text = guide('rotate-secrets', language);
    const settings = (await Promise.all(serviceNames.map(configSchemaOf))).flatMap(describeSettings);
    const secrets = new Set([
      ...settings.filter(({ secret }) => secret).map(({ name }) => name),
      ...[...storedSecrets()]
        .filter(([path]) => !/providers|authorities/.test(path))
        .flatMap(([, names]) => [...names]),
      ...printedSecrets(),
    ]);
    const missing = [...secrets].filter((name) => !text.includes(`\`${name}\``) && !name.endsWith('_DIGEST'));
    expect(missing).toEqual([]);
  });

  test('name only variables that compose or a service reads', async () => {
    const settings = (await Promise.all(serviceNames.map(configSchemaOf))).flatMap(describeSettings);
    const known = new Set([
      ...settings.map(({ name }) => name),
      ...variablesIn(readFileSync(new URL('docker-compose.yml', ROOT), 'utf8')),
      ...Object.values(readCompose()).flatMap(({ environment }) => Object.keys(environment ?? {})),
      ...printedSecrets(),
    ]);
    for (const name of ['one-machine', 'rotate-secrets']) {
      const written = [...guide(name, language).matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, span]) => span);
      expect(written.filter((variable) => !known.has(variable ?? ''))).toEqual([]);
    }
  });
});
