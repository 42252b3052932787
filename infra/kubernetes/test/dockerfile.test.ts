import { readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const text = read('infra/docker/Dockerfile');
// biome-ignore lint/suspicious/noTemplateCurlyInString: the builder fills in its own variable.
const NODE_IMAGE = '${NODE_IMAGE}';
/** The last stage, which becomes the image. */
const shipped = text.slice(text.lastIndexOf('\nFROM '));

/** Returns the instructions of a Dockerfile, each on one line. */
const instructionsOf = (source: string): string[] =>
  source
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
const instruction = (source: string, name: string): string[] =>
  instructionsOf(source).filter((line) => line.startsWith(`${name} `));

describe('the Dockerfile', () => {
  test('passes the linter', () => expect(validate(text)).toEqual([]));

  test('fails the linter if it is invalid', () => {
    expect(validate('FROM node\nCMD ["node", \'x\']\nCOPPY . .\n').length).toBeGreaterThan(0);
  });

  test('pins the repository’s Node version by digest', () => {
    const version = /^ {2}node: (\d\S+)$/m.exec(read('pnpm-workspace.yaml'))?.[1];
    const [, tag, digest] =
      /^ARG NODE_IMAGE=node:(\S+)@(sha256:[\da-f]{64})$/.exec(instruction(text, 'ARG')[0] ?? '') ?? [];
    expect(tag).toBe(`${version}-bookworm-slim`);
    expect(instruction(text, 'FROM').map((line) => line.split(' ')[1])).toEqual([NODE_IMAGE, NODE_IMAGE]);
    expect(shipped).toContain(`base.name="docker.io/library/node:${tag}"`);
    expect(shipped).toContain(`base.digest="${digest}"`);
  });

  test('installs with the repository’s package manager and lockfile', () => {
    // package.json names it as pnpm@<version>.
    const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
    expect(text).toContain(`npm install --global ${packageManager}\n`);
    expect(text).toContain('pnpm install --frozen-lockfile');
  });

  test('ships no sources and runs no command in the last stage', () => {
    expect(instruction(shipped, 'COPY')).toEqual([
      'COPY --from=build /app ./',
      'COPY --from=build --chown=1000:1000 /state /var/lib/svc',
    ]);
    expect(instruction(shipped, 'RUN')).toEqual([]);
    expect(instruction(shipped, 'ADD')).toEqual([]);
  });

  test('does not run as root and takes no secret', () => {
    expect(instruction(shipped, 'USER')).toEqual(['USER 1000:1000']);
    expect(text).not.toMatch(/(ARG|ENV) \w*(SECRET|TOKEN|PASSWORD|KEY)/);
  });

  test('needs no shell to start or for its health check', () => {
    expect(instruction(shipped, 'ENTRYPOINT')).toEqual(['ENTRYPOINT ["node"]']);
    expect(instruction(shipped, 'CMD')).toEqual(['CMD ["src/main.js"]']);
    const [check = ''] = instruction(shipped, 'HEALTHCHECK');
    const command: unknown = JSON.parse(check.slice(check.indexOf('CMD ') + 'CMD '.length));
    expect(command).toEqual(['node', '-e', expect.stringContaining("+ '/healthz'")]);
  });

  test('limits the memory of Node as the local stack and the benchmarks do', () => {
    const [flag = 'none'] = /--max-semi-space-size=\d+/.exec(instruction(shipped, 'ENV').join('\n')) ?? [];
    for (const file of ['infra/local/src/stack/keep-running.ts', 'infra/bench/src/harness/node-process.ts']) {
      expect(read(file)).toContain(`'${flag}'`);
    }
  });

  test('has image labels', () => {
    for (const label of ['title', 'version', 'revision', 'base.name', 'base.digest']) {
      expect(shipped).toContain(`org.opencontainers.image.${label}=`);
    }
    expect(text).toContain('npm sbom --sbom-format cyclonedx');
  });
});

test('excludes private and built files from images', () => {
  const ignored = read('infra/docker/Dockerfile.dockerignore').split('\n');
  for (const pattern of ['.git', '.env*', '.local*', '**/node_modules', '**/dist']) expect(ignored).toContain(pattern);
});
