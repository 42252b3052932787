import { readFileSync } from 'node:fs';
import { type ConfiguredPlan, minorUnitOf, plansFileSchema, stripePriceOf } from '@svc/contracts';
import { type Document, parseDocument } from 'yaml';

/** Error for an invalid plans file. The message names the file and lists every fault. */
class PlansFileError extends Error {
  override readonly name = 'PlansFileError';
  readonly code = 'plans_file_invalid';

  constructor(path: string, faults: readonly string[], cause?: unknown) {
    super([`The plans in ${path} are invalid:`, ...faults.map((fault) => `  ${fault}`)].join('\n'), { cause });
  }
}

/** Rules for plans beyond their schema. */
export interface PlanRules {
  readonly currency: string;
  /** True if each plan must name its Stripe price. */
  readonly needsStripePrice: boolean;
}

/** Reads and validates the plans file. Throws PlansFileError with all faults at once. */
export const loadPlans = (path: string, rules: PlanRules): readonly ConfiguredPlan[] => {
  const document = parseDocument(readText(path), { prettyErrors: true, uniqueKeys: true });
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => error.message.split('\n')[0] ?? error.code);
    throw new PlansFileError(path, faults);
  }
  const result = plansFileSchema.safeParse(readDocument(path, document));
  if (!result.success) {
    const faults = result.error.issues.map(
      (issue) => `${issue.path.map(String).join('.') || '(file)'}: ${issue.message}`,
    );
    throw new PlansFileError(path, faults);
  }
  const { plans } = result.data;
  const faults = [...plans.flatMap((plan) => faultsOf(plan, rules)), ...sharedPrices(plans)];
  if (faults.length > 0) throw new PlansFileError(path, faults);
  return plans;
};

/** Resolves aliases, which generated YAML contains. Throws PlansFileError for an undefined alias or an alias bomb. */
const readDocument = (path: string, document: Document): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new PlansFileError(path, [error.message]);
  }
};

const faultsOf = ({ id, price, stripe_price_id }: ConfiguredPlan, rules: PlanRules): string[] => [
  ...(price.currency === rules.currency
    ? []
    : [`plan ${id}: is priced in ${price.currency}, but billing is in ${rules.currency}`]),
  ...partOfMinorUnit(id, price),
  ...(rules.needsStripePrice && stripe_price_id === undefined ? [`plan ${id}: stripe_price_id is missing`] : []),
];

/** Returns a fault for a price that cannot be paid exactly. */
const partOfMinorUnit = (id: string, { amount_micros: amount, currency }: ConfiguredPlan['price']): string[] => {
  const unit = minorUnitOf(currency);
  if (unit === undefined) return [`plan ${id}: the minor units of ${currency} are not known`];
  const isWhole = amount % unit.stepMicros === 0;
  return isWhole ? [] : [`plan ${id}: the price must be a whole number of ${unit.stepMicros} micros in ${currency}`];
};

/** Returns a fault for each price shared by several plans. A price must identify the bought plan. */
const sharedPrices = (plans: readonly ConfiguredPlan[]): string[] => {
  const prices = plans.map(stripePriceOf);
  return [...new Set(prices.filter((price, index) => prices.indexOf(price) !== index))].map(
    (price) => `the price ${price} is used by more than one plan`,
  );
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PlansFileError(path, ['the file cannot be read'], error);
  }
};
