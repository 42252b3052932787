import { routes, serviceOperations } from '@svc/contracts';
import { type Binding, bind, type DerivedKeys, keySetReply } from '@svc/service-kit';

/** Binds the public keys of proofs. */
export const provenanceRoutes = ({ keys }: { readonly keys: DerivedKeys }): Binding[] => [
  bind(routes.getProvenanceJwks, async () => keySetReply(keys)),
];

/** Binds the operator route that stops publishing the keys of former secrets. */
export const provenanceOperatorRoutes = ({
  withdrawKeys,
}: {
  readonly withdrawKeys: () => Promise<number>;
}): Binding[] => [
  bind(serviceOperations.withdrawProofKeys, async () => ({ status: 200, body: { withdrawn: await withdrawKeys() } })),
];
