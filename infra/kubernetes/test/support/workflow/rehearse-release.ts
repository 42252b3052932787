import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, matchesGlob } from 'node:path';
import { parse } from 'yaml';
import { rehearsedWorkflowSchema } from './parse-workflow.ts';
import { type Action, runWorkflow } from './run-workflow.ts';

const ROOT = new URL('../../../../../', import.meta.url).pathname;
/** Files that a release reads. The rest of the repository is not copied. */
const FILES = [
  '.github',
  '.gitignore',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'cliff.toml',
  'config',
  'docker-compose.yml',
];
const FOLDERS = [
  'docs/guides',
  'docs/runbooks',
  'infra/docker',
  'infra/kubernetes',
  'infra/local/config',
  'infra/observability',
];
const SDK = 'packages/partner-sdk/package.json';
const IGNORED = /\/(node_modules|dist|\.turbo)$/;
const COMMAND_TIMEOUT_MS = 60_000;

/** Stands in for programs that reach the network. Each call is a line of the log. */
const PROGRAMS: Readonly<Record<string, string>> = {
  docker:
    'echo "docker $*" >> "$LOG"\ncase "$*" in *inspect*) printf "sha256:%s" "$(printf %s "$4" | sha256sum | cut -c1-64)" ;; esac',
  cosign: 'echo "cosign $*" >> "$LOG"',
  gh: 'echo "gh $*" >> "$LOG"\nmkdir -p "$ASSETS" && cp notes.md svc-*.tar.gz "$ASSETS"',
  helm: 'echo "helm $*" >> "$LOG"',
  skopeo: 'echo "skopeo $*" >> "$LOG"\ncase "$1" in inspect) printf chart ;; esac',
  // The runners of GitHub have it; a machine that runs the tests need not.
  jq: 'test "$1" = -r && exec node -p "JSON.parse(fs.readFileSync(process.argv[2]))[process.argv[1].slice(1)]" "$2" "$3"',
  npx: 'case "$2 $3" in "exec git-cliff") shift 3; exec "$GIT_CLIFF" "$@" ;; *) echo "npx $*" >> "$LOG" ;; esac',
};

/** A copy of the repository with a new history and a remote to push to. */
export interface Rehearsal {
  /** Runs what CONTRIBUTING.md says for a release; a candidate's version in place of the derived one. */
  readonly tag: (candidate?: string) => string;
  readonly commit: (message: string) => void;
  /** Changes the copy's SDK to this version and moves the tag there. */
  readonly retag: (tag: string, sdkVersion: string) => void;
  /** Runs the workflow for a pushed tag. */
  readonly release: (tag: string, options?: ReleaseOptions) => Release;
  readonly close: () => void;
}

export interface ReleaseOptions {
  /** Images in which the scanner finds something. */
  readonly vulnerable?: readonly string[];
  readonly npmPackage?: string;
}

/** Record of a release: its steps in order, and its assets. */
export interface Release {
  readonly results: Readonly<Record<string, string>>;
  readonly log: readonly string[];
  /** Folder of the release's notes and archives. */
  readonly assets: string;
}

/** Copies the repository as it is now, changes that are not committed included. */
export const openRehearsal = (): Rehearsal => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rehearsal-'));
  const copy = join(folder, 'copy');
  const remote = join(folder, 'remote.git');
  const bin = join(folder, 'bin');
  for (const path of [...FILES, ...FOLDERS, SDK]) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: (source) => !IGNORED.test(source) });
  }
  mkdirSync(bin);
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const environment = environmentOf(folder, bin);
  const run = (program: string, ...args: string[]): string =>
    execFileSync(program, args, {
      cwd: copy,
      env: environment,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
      stdio: 'pipe',
    });
  const commit = (message: string) => run('git', 'commit', '--quiet', '--allow-empty', '--all', '--message', message);
  run('git', 'init', '--quiet', '--initial-branch', 'main');
  run('git', 'add', '--all');
  commit('feat(auth): sign in');
  run('git', 'clone', '--quiet', '--bare', copy, remote);
  run('git', 'remote', 'add', 'origin', remote);
  run('git', 'fetch', '--quiet');
  run('git', 'branch', '--quiet', '--set-upstream-to', 'origin/main');
  return {
    commit,
    tag(candidate) {
      run('bash', '-e', '-c', releaseCommands(candidate));
      return run('git', 'describe', '--tags', '--exact-match').trim();
    },
    retag(tag, sdkVersion) {
      run('npm', 'pkg', 'set', `version=${sdkVersion}`, '--prefix', 'packages/partner-sdk');
      commit('chore: another version');
      run('git', 'tag', '--force', '--annotate', tag, '--message', tag);
      run('git', 'push', '--quiet', '--force', 'origin', tag);
    },
    release: (tag, options = {}) => release({ tag, remote, folder, environment, options }),
    close: () => rmSync(folder, { recursive: true }),
  };
};

const environmentOf = (folder: string, bin: string): Record<string, string> => ({
  PATH: `${bin}:${process.env['PATH'] ?? ''}`,
  HOME: folder,
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
  GIT_CLIFF: join(ROOT, 'node_modules/.bin/git-cliff'),
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Owner'],
      [`GIT_${who}_EMAIL`, 'owner@example.com'],
    ]),
  ),
});

/** Reads the commands of the section "A release". */
const releaseCommands = (candidate: string | undefined): string => {
  const guide = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const [, commands = ''] = /\n## A release\n[\s\S]*?```sh[^\n]*\n([\s\S]*?)```/.exec(guide) ?? [];
  if (!/^version=/m.test(commands)) throw new Error('CONTRIBUTING.md no longer says how a version is chosen');
  return candidate === undefined ? commands : commands.replace(/^version=.*$/m, `version=${candidate}`);
};

interface ReleaseInput {
  readonly tag: string;
  readonly remote: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly options: ReleaseOptions;
}

const release = ({ tag, remote, folder, environment, options }: ReleaseInput): Release => {
  const run = mkdtempSync(join(folder, 'release-'));
  const log = join(run, 'log');
  const assets = join(run, 'assets');
  const artifacts = join(run, 'artifacts');
  writeFileSync(log, '');
  const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
  // Capital letters are allowed in an owner's name, and refused by registries.
  const repository = 'Some-Owner/Svc';
  const sha = createHash('sha1').update(tag).digest('hex');
  const results = runWorkflow({
    // The format has anchors.
    workflow: rehearsedWorkflowSchema.parse(parse(text)),
    actions: actionsOf({
      tag,
      remote,
      artifacts,
      environment,
      say: (line) => appendFileSync(log, `${line}\n`),
      options,
    }),
    scope: {
      github: { ref_name: tag, sha, actor: 'owner', token: 'token', event: { repository: { visibility: 'private' } } },
      secrets: { GITHUB_TOKEN: 'token' },
      vars: { NPM_PACKAGE: options.npmPackage ?? '' },
    },
    environment: {
      ...environment,
      LOG: log,
      ASSETS: assets,
      GITHUB_REF_NAME: tag,
      GITHUB_REPOSITORY: repository,
      GITHUB_SHA: sha,
    },
  });
  return { results, log: readFileSync(log, 'utf8').trim().split('\n').filter(Boolean), assets };
};

interface ActionsInput extends Omit<ReleaseInput, 'folder'> {
  readonly artifacts: string;
  readonly say: (line: string) => void;
}

const actionsOf = ({ tag, remote, artifacts, environment, say, options }: ActionsInput): Record<string, Action> => ({
  'actions/checkout': ({ workspace, matrix }) => {
    // The jobs of a matrix only ask for the time of the commit, and there are many of them.
    const files = Object.keys(matrix).length > 0 ? ['--no-checkout'] : [];
    const args = ['clone', '--quiet', '--shared', ...files, '--branch', tag, remote, '.'];
    execFileSync('git', args, { cwd: workspace, env: environment, stdio: 'pipe' });
    return {};
  },
  'docker/build-push-action': ({ with: { outputs = '', tags = '' }, matrix }) => {
    const name = /\bname=([^,]+)/.exec(outputs)?.[1] ?? '';
    const digest = `sha256:${createHash('sha256').update(`${name} ${matrix['runner']}`).digest('hex')}`;
    say(`push ${name}@${digest} ${tags}`.trim());
    return { digest };
  },
  'aquasecurity/trivy-action': ({ with: { 'image-ref': image = '', output = '' }, workspace }) => {
    say(`scan ${image}`);
    writeFileSync(join(workspace, output), '{}');
    if (options.vulnerable?.some((name) => image.includes(`/${name}@`))) throw new Error('a finding that has a fix');
    return {};
  },
  'actions/upload-artifact': ({ with: { name = '', path = '' }, workspace }) => {
    for (const each of path.split('\n').filter(Boolean)) {
      cpSync(join(workspace, each), join(artifacts, name, basename(each)), { recursive: true });
    }
    return {};
  },
  'actions/download-artifact': ({ with: { pattern = '' }, workspace }) => {
    for (const name of readdirSync(artifacts).filter((each) => matchesGlob(each, pattern))) {
      cpSync(join(artifacts, name), workspace, { recursive: true });
    }
    return {};
  },
  ...Object.fromEntries(
    ['actions/setup-node', 'docker/login-action', 'docker/setup-buildx-action', 'sigstore/cosign-installer'].map(
      (name) => [name, () => ({})],
    ),
  ),
});
