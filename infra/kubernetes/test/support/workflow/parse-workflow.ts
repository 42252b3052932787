import { z } from 'zod';

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const stepSchema = z.looseObject({
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), text).default({}),
  env: z.record(z.string(), text).default({}),
  'working-directory': z.string().optional(),
});
const jobSchema = z.looseObject({
  if: z.string().optional(),
  uses: z.string().optional(),
  needs: z.union([z.string().transform((name) => [name]), z.array(z.string())]).default([]),
  strategy: z.looseObject({ matrix: z.record(z.string(), z.array(z.string())) }).optional(),
  env: z.record(z.string(), text).default({}),
  outputs: z.record(z.string(), z.string()).default({}),
  steps: z.array(stepSchema).default([]),
});

/** The part of GitHub's workflow format that this repository's release uses. */
export const rehearsedWorkflowSchema = z.looseObject({ jobs: z.record(z.string(), jobSchema) });

export type RehearsedWorkflow = z.output<typeof rehearsedWorkflowSchema>;
export type RehearsedJob = z.output<typeof jobSchema>;
export type RehearsedStep = z.output<typeof stepSchema>;
