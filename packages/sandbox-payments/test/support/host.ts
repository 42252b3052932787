import { newId } from '@svc/contracts';
import type { SandboxListener } from '../../src/announce-changes.ts';
import { createSandboxPaymentProvider, type SandboxPaymentProvider } from '../../src/sandbox-payment-provider.ts';
import { hasEnded } from '../../src/sandbox-subscription.ts';

type State = NonNullable<Awaited<ReturnType<SandboxPaymentProvider['readSubscription']>>>;

/** Stands for billing: asks for the latest state at each announcement, and allows one live subscription per customer. */
export class Host implements SandboxListener {
  readonly provider: SandboxPaymentProvider;
  readonly #ids = new Map<string, string>();
  readonly #states = new Map<string, State>();
  readonly #history: State[] = [];

  constructor(deps: Parameters<typeof createSandboxPaymentProvider>[0]) {
    this.provider = createSandboxPaymentProvider(deps);
  }

  async sessionPaid(sessionId: string): Promise<boolean> {
    const checkout = await this.provider.readCheckout(sessionId);
    if (checkout?.status !== 'complete' || checkout.subscription === null) return false;
    const { providerSubscriptionId, userId } = checkout.subscription;
    const live = this.current(userId);
    if (live !== undefined && live.providerSubscriptionId !== providerSubscriptionId && !hasEnded(live.status)) {
      await this.provider.revertSubscription(providerSubscriptionId);
      return true;
    }
    await this.subscriptionChanged(providerSubscriptionId);
    return false;
  }

  async subscriptionChanged(id: string): Promise<void> {
    const state = await this.provider.readSubscription(id);
    const known = this.#states.get(id);
    if (state === undefined || (known === undefined && hasEnded(state.status))) return;
    if (known === undefined) this.#ids.set(newId('sub'), id);
    this.#states.set(id, state);
    if (known?.status !== state.status || known.periodEnd.getTime() !== state.periodEnd.getTime()) {
      this.#history.push(state);
    }
  }

  findProviderId = async (id: string): Promise<string | undefined> => this.#ids.get(id);

  /** Returns the latest state of a customer's newest subscription. */
  current(customer: string): (State & { readonly id: string }) | undefined {
    const states = [...this.#ids].map(([id, providerId]) => ({ id, state: this.#states.get(providerId) }));
    const found = states.findLast(({ state }) => state?.userId === customer);
    return found?.state && { ...found.state, id: found.id };
  }

  /** Lists the states of a customer that differed from the one before: status, and end of the period or of the whole. */
  historyOf(customer: string): [string, string][] {
    const states = this.#history.filter(({ userId }) => userId === customer);
    return states.map(({ status, endedAt, periodEnd }) => [status, (endedAt ?? periodEnd).toISOString()]);
  }
}
