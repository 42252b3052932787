import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const BASE = 'localhost/node-base';
const BUILD_TIMEOUT_MS = 900_000;
const STORAGE_BYTES_MAX = 8 * 1024 ** 3;
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

/** Runs as a container would: only the image's files, read-only, as its user, without capabilities. */
const CONFINED = `
  mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
  mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/tmp" || exit 1
  root=$1; user=$2; directory=$3; shift 3
  exec chroot "$root" /usr/bin/setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --bounding-set=-all \\
    --inh-caps=-all --no-new-privs -- /usr/bin/env --chdir="$directory" "$@"`;

const configSchema = z.object({
  OCIv1: z.object({
    config: z.object({
      User: z.string(),
      Env: z.array(z.string()),
      Entrypoint: z.array(z.string()),
      Cmd: z.array(z.string()),
      WorkingDir: z.string(),
    }),
  }),
});

/** An image's settings. */
export type ImageConfig = z.infer<typeof configSchema>['OCIv1']['config'];

/** Returns true if this machine can build images: buildah is installed, and this is root on Debian. */
export const hasBuildah = (): boolean =>
  process.getuid?.() === 0 &&
  ['buildah', 'dpkg-query', 'unshare'].every(
    (name) => spawnSync(name, ['--version'], { timeout: 20_000 }).status === 0,
  );

/**
 * Builds images with buildah in a folder that holds all of its storage. The folder is in memory, because copies of whole
 * file systems would keep the disk busy. Neither a daemon nor a registry takes part.
 */
export const openBuildah = (folder: string) => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${STORAGE_BYTES_MAX}`, 'svc-images', folder]);
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = (command: string, args: readonly string[]): string =>
    execFileSync('buildah', [...storage, command, ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: BUILD_TIMEOUT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const commitSeconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim();
  return {
    /** Removes containers and images, and leaves the folder empty. */
    close: (): void => {
      buildah('rm', ['--all']);
      execFileSync('umount', ['--recursive', folder]);
    },
    /** Makes the base image from this machine's files. */
    makeBase: (): void => {
      const files = join(folder, 'base');
      mkdirSync(files);
      execFileSync(join(ROOT, 'infra/docker/make-base.sh'), [files, process.execPath], { stdio: 'pipe' });
      const container = buildah('from', ['scratch']);
      buildah('copy', ['--quiet', container, files, '/']);
      const paths = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
      const trust = process.env['NODE_EXTRA_CA_CERTS'] === undefined ? [] : ['NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem'];
      buildah('config', [...[`PATH=${paths}`, ...trust].flatMap((each) => ['--env', each]), container]);
      buildah('commit', ['--quiet', '--rm', '--timestamp', commitSeconds, container, BASE]);
    },
    /** Builds a package by the Dockerfile and returns the image's id, a digest of everything in it. Docker's format names the builder's host. */
    build: (name: string, version: string): string => {
      const values = {
        NODE_IMAGE: BASE,
        PACKAGE: `@svc/${name}`,
        VERSION: version,
        SOURCE_DATE_EPOCH: commitSeconds,
      };
      const args = Object.entries(values).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
      const file = ['--file', 'infra/docker/Dockerfile', '--ignorefile', 'infra/docker/Dockerfile.dockerignore'];
      const options = ['--quiet', '--format', 'oci', '--network', 'host', '--timestamp', commitSeconds];
      return buildah('build', [...options, ...args, ...file, '.']);
    },
    /** Returns the folder with an image's files, and its settings. */
    open: (image: string): { readonly files: string; readonly config: ImageConfig } => ({
      files: buildah('mount', [buildah('from', [image])]),
      config: configSchema.parse(JSON.parse(buildah('inspect', ['--type', 'image', image]))).OCIv1.config,
    }),
  };
};

/** Returns the command line that runs an image confined, in the process that it starts. */
export const confinedCommand = (
  { files, config }: { readonly files: string; readonly config: ImageConfig },
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): [string, string[]] => {
  const settings = [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const command = [...config.Entrypoint, ...args];
  const inside = [files, config.User, config.WorkingDir, '--ignore-environment', ...settings, ...command];
  return ['unshare', ['--mount', 'sh', '-c', CONFINED, 'sh', ...inside]];
};
