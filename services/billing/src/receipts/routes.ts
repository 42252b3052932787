import { internalRoutes, routes, serviceOperations } from '@svc/contracts';
import { type Binding, bind, type DerivedKeys, keySetReply } from '@svc/service-kit';
import type { ReceiptSigning } from './sign-receipt.ts';

export interface ReceiptRoutesDeps {
  readonly receipts: ReceiptSigning;
  readonly receiptKeys: DerivedKeys;
  /** Stops publishing the keys of former secrets. Returns their number. */
  readonly withdrawKeys: () => Promise<number>;
}

/** Binds the public routes of receipts. */
export const receiptRoutes = ({ receipts, receiptKeys }: Omit<ReceiptRoutesDeps, 'withdrawKeys'>): Binding[] => [
  bind(routes.getRequestReceipt, async ({ caller, params }) => ({
    status: 200,
    body: await receipts.signDelegated(params.request_id, caller),
  })),
  bind(routes.getReceiptJwks, async () => keySetReply(receiptKeys)),
];

/** Binds the internal routes of receipts. */
export const receiptInternalRoutes = ({
  receipts,
  withdrawKeys,
}: Omit<ReceiptRoutesDeps, 'receiptKeys'>): Binding[] => [
  bind(internalRoutes.signKeyReceipt, async ({ body }) => ({ status: 200, body: await receipts.signKey(body) })),
  bind(serviceOperations.withdrawReceiptKeys, async () => ({ status: 200, body: { withdrawn: await withdrawKeys() } })),
];
