import { rmSync } from 'node:fs';
import { writeFileAtomically } from './atomic-file.ts';

export interface StackProcess {
  readonly pid: number;
  readonly url: string;
  /** Serves `/readyz`, `/metrics` and the calls of other services. */
  readonly internal_url?: string;
}

export interface StackDescription {
  readonly base_url: string;
  readonly processes: Record<string, StackProcess>;
  readonly database_urls: Record<string, string>;
  /** The operator's URL, with all rights. */
  nats_url: string;
  readonly nats_urls: Record<string, string>;
}

/** `stack.json`: exists while the stack is ready, and follows every change. */
export interface StackFile {
  readonly description: StackDescription;
  readonly set: (name: string, process: StackProcess) => void;
  readonly publish: () => void;
  readonly remove: () => void;
}

/** Creates an unpublished description, and removes the file of an earlier run. */
export const createStackFile = (path: string, base_url: string): StackFile => {
  const description: StackDescription = { base_url, processes: {}, database_urls: {}, nats_url: '', nats_urls: {} };
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
