import { rmSync } from 'node:fs';
import { writeFileAtomically } from './atomic-file.ts';

/** One process of the stack, as others may find it. */
export interface StackProcess {
  pid: number;
  url: string;
  /** Where a service answers `/readyz`, `/metrics` and calls of other services. */
  internal_url?: string;
}

/** What `stack.json` says. */
export interface StackDescription {
  base_url: string;
  processes: Record<string, StackProcess>;
  database_urls: Record<string, string>;
  nats_url: string;
}

/** `stack.json`: appears when the stack is ready, is true while it runs, and is gone when it has stopped. */
export interface StackFile {
  description: StackDescription;
  /** A process runs, for the first time or again. */
  set: (name: string, process: StackProcess) => void;
  /** From now on the file exists and follows every change. */
  publish: () => void;
  remove: () => void;
}

/** Starts describing a stack; removes the description that an earlier run left. */
export const createStackFile = (path: string, base_url: string): StackFile => {
  const description: StackDescription = { base_url, processes: {}, database_urls: {}, nats_url: '' };
  let isPublished = false;
  const write = (): void => writeFileAtomically(path, `${JSON.stringify(description, null, 2)}\n`);
  rmSync(path, { force: true });
  return {
    description,
    set: (name, process) => {
      description.processes[name] = process;
      if (isPublished) write();
    },
    publish: () => {
      isPublished = true;
      write();
    },
    remove: () => {
      isPublished = false;
      rmSync(path, { force: true });
    },
  };
};
