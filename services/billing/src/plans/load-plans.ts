import { readFileSync } from 'node:fs';
import { type ConfiguredPlan, plansFileSchema } from '@svc/contracts';
import { parseDocument } from 'yaml';

/** The file of plans cannot be used; the message names the file and lists every fault. */
export class PlansFileError extends Error {
  override readonly name = 'PlansFileError';
  readonly code = 'plans_file_invalid';

  constructor(path: string, faults: readonly string[], cause?: unknown) {
    super([`The plans in ${path} are invalid:`, ...faults.map((fault) => `  ${fault}`)].join('\n'), { cause });
  }
}

/** Reads and checks the file of plans. Throws PlansFileError with all faults at once. */
export const loadPlans = (path: string, currency: string): readonly ConfiguredPlan[] => {
  const document = parseDocument(readText(path), { prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => error.message.split('\n')[0] ?? error.code);
    throw new PlansFileError(path, faults);
  }
  const result = plansFileSchema.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (!result.success) {
    const faults = result.error.issues.map(
      (issue) => `${issue.path.map(String).join('.') || '(file)'}: ${issue.message}`,
    );
    throw new PlansFileError(path, faults);
  }
  const foreign = result.data.plans.filter((plan) => plan.price.currency !== currency);
  if (foreign.length > 0) {
    const faults = foreign.map(
      ({ id, price }) => `plan ${id}: is priced in ${price.currency}, but billing is in ${currency}`,
    );
    throw new PlansFileError(path, faults);
  }
  return result.data.plans;
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PlansFileError(path, ['the file cannot be read'], error);
  }
};
