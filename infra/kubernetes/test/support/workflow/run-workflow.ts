import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluate, interpolate, interpolateAll, type Scope } from './expression.ts';
import type { RehearsedJob, RehearsedStep, RehearsedWorkflow } from './parse-workflow.ts';

const STEP_TIMEOUT_MS = 60_000;

type Result = 'success' | 'failure' | 'skipped';

/** Input of an action from the marketplace. */
export interface ActionInput {
  readonly with: Readonly<Record<string, string>>;
  /** The folder of the job. */
  readonly workspace: string;
  readonly matrix: Readonly<Record<string, string>>;
}

/** Stands in for an action: returns its outputs, or throws to fail its step. */
export type Action = (input: ActionInput) => Readonly<Record<string, string>>;

export interface RunOptions {
  readonly workflow: RehearsedWorkflow;
  /** By name without version, such as `actions/checkout`. */
  readonly actions: Readonly<Record<string, Action>>;
  /** Contexts of every expression. */
  readonly scope: Scope;
  /** Variables of every step, with the `PATH` of stand-ins for programs that reach the network. */
  readonly environment: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly result: Result;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Runs the jobs of a workflow in the order of their needs, the steps with bash as GitHub does. Returns the result of each. */
export const runWorkflow = (options: RunOptions): Record<string, Result> => {
  const needs: Record<string, Outcome> = {};
  const waiting = new Map(Object.entries(options.workflow.jobs));
  while (waiting.size > 0) {
    const ready = [...waiting].find(([, job]) => job.needs.every((name) => needs[name] !== undefined));
    if (ready === undefined) throw new Error('jobs need each other');
    const [name, job] = ready;
    waiting.delete(name);
    needs[name] = runJob(job, { ...options, scope: { ...options.scope, needs } });
  }
  return Object.fromEntries(Object.entries(needs).map(([name, { result }]) => [name, result]));
};

const runJob = (job: RehearsedJob, options: RunOptions): Outcome => {
  // `runWorkflow` puts it there.
  const needs = options.scope['needs'] as Record<string, Outcome>;
  const haveSucceeded = job.needs.every((name) => needs[name]?.result === 'success');
  const isWanted = job.if === undefined || Boolean(evaluate(job.if, options.scope));
  if (!isWanted || !(haveSucceeded || job.if?.includes('always()'))) return { result: 'skipped', outputs: {} };
  // All of a matrix start at once, so that a failure of one does not keep the others from their work.
  const outcomes = combinations(job.strategy?.matrix ?? {}).map((matrix) => runInstance(job, matrix, options));
  return outcomes.find(({ result }) => result !== 'success') ?? outcomes[0] ?? { result: 'success', outputs: {} };
};

const combinations = (matrix: Readonly<Record<string, readonly string[]>>): Record<string, string>[] =>
  Object.entries(matrix).reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((each) => values.map((value) => ({ ...each, [name]: value }))),
    [{}],
  );

const runInstance = (job: RehearsedJob, matrix: Readonly<Record<string, string>>, options: RunOptions): Outcome => {
  const workspace = mkdtempSync(join(tmpdir(), 'svc-rehearsal-job-'));
  const steps: Record<string, { outputs: Readonly<Record<string, string>> }> = {};
  const scope: Record<string, unknown> = { ...options.scope, matrix, steps };
  scope['env'] = interpolateAll(job.env, scope);
  let result: Result = 'success';
  try {
    for (const step of job.steps) {
      if (result === 'failure' && step.if !== 'always()') continue;
      const outputs = runStep(step, { ...options, scope, workspace });
      if (outputs === undefined) result = 'failure';
      else if (step.id !== undefined) steps[step.id] = { outputs };
    }
    return { result, outputs: result === 'success' ? interpolateAll(job.outputs, scope) : {} };
  } finally {
    rmSync(workspace, { recursive: true });
  }
};

/** Returns the outputs of a step; undefined if it fails. */
const runStep = (step: RehearsedStep, options: RunOptions & { readonly workspace: string }) => {
  const { scope, workspace, actions } = options;
  if (step.uses === undefined) return runScript(step, options);
  const action = actions[step.uses.replace(/@.*$/, '')];
  if (action === undefined) throw new Error(`no stand-in for ${step.uses}`);
  try {
    // `runInstance` puts it there.
    const matrix = scope['matrix'] as Record<string, string>;
    return action({ with: interpolateAll(step.with, scope), workspace, matrix });
  } catch {
    return undefined;
  }
};

const runScript = (step: RehearsedStep, options: RunOptions & { readonly workspace: string }) => {
  const { scope, workspace, environment } = options;
  const outputFile = join(workspace, '.github-output');
  writeFileSync(outputFile, '');
  const { status, stderr } = spawnSync('bash', ['-e', '-c', interpolate(step.run ?? '', scope)], {
    cwd: join(workspace, step['working-directory'] ?? '.'),
    encoding: 'utf8',
    timeout: STEP_TIMEOUT_MS,
    env: {
      ...environment,
      // `runInstance` puts it there.
      ...(scope['env'] as Record<string, string>),
      ...interpolateAll(step.env, scope),
      GITHUB_OUTPUT: outputFile,
    },
  });
  const lines = existsSync(outputFile) ? readFileSync(outputFile, 'utf8').split('\n') : [];
  rmSync(outputFile, { force: true });
  if (status !== 0) {
    if (stderr !== '') process.stderr.write(stderr);
    return undefined;
  }
  return Object.fromEntries(lines.filter(Boolean).map((line) => line.split(/=(.*)/s).slice(0, 2)));
};
