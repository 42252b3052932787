import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../../src/kustomize/manifest.ts';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
const OPTIONS = {
  noEmit: true,
  strict: true,
  module: 'nodenext',
  target: 'es2024',
  types: [],
  skipLibCheck: true,
};

/** Returns the module with the type and the validator of an object. */
export const modelModule = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): string => {
  const packages: Record<string, string> = {
    'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
    'cert-manager.io': '@kubernetes-models/cert-manager',
    'external-secrets.io': '@kubernetes-models/external-secrets',
    'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  };
  return `${packages[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
};

/**
 * Compiles each object against the interface of its kind and returns the compiler's findings: unknown properties at any
 * depth, missing ones, wrong types. One line per finding, starting with the object's name.
 */
export const typeErrors = (manifests: readonly Manifest[]): string[] => {
  const folder = join(PACKAGE, 'node_modules', '.typed-manifests', String(process.pid));
  mkdirSync(folder, { recursive: true });
  try {
    const lines = manifests.map((manifest, index) => {
      const type = `import('${modelModule(manifest)}').I${manifest.kind}`;
      return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['manifests.ts'] }));
    const compiler = join(PACKAGE, 'node_modules', '.bin', 'tsc');
    const { stdout, stderr, status } = spawnSync(compiler, ['-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
    const findings = stdout.split('\n').filter((line) => line.includes('error TS'));
    if (status !== 0 && findings.length === 0) throw new Error(`tsc failed: ${stdout}${stderr}`);
    return findings.map((finding) => describeFinding(finding, manifests));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** `manifests.ts(3,120): error TS2353: …` refers to the third object. */
const describeFinding = (finding: string, manifests: readonly Manifest[]): string => {
  const line = Number(/\((\d+),\d+\)/.exec(finding)?.[1] ?? 0);
  const manifest = manifests[line - 1];
  return `${manifest?.kind} ${manifest?.metadata.name}: ${finding.replace(/^.*error TS\d+: /, '')}`;
};
