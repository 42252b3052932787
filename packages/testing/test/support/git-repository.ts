import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const AUTHOR = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];

/** An empty repository in a folder that `remove` deletes. */
export interface GitRepository {
  readonly folder: string;
  /** Writes files; undefined deletes one. */
  readonly write: (files: Readonly<Record<string, string | undefined>>) => void;
  /** Commits all files, and tags the commit if a tag is given. */
  readonly commit: (tag?: string) => void;
  readonly remove: () => void;
}

export const gitRepository = (): GitRepository => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-releases-'));
  const git = (...args: string[]): void => {
    execFileSync('git', ['-C', folder, ...AUTHOR, ...args], { stdio: 'pipe' });
  };
  git('init', '--quiet');
  return {
    folder,
    write: (files) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        if (text === undefined) rmSync(join(folder, path));
        else writeFileSync(join(folder, path), text);
      }
    },
    commit: (tag) => {
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '--message', 'a change');
      if (tag !== undefined) git('tag', '--annotate', tag, '--message', tag);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
};
