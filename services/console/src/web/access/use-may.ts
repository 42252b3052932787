import type { Role } from '@svc/contracts';
import { isRoleEnough } from '@svc/contracts/roles';
import { type OperationName, roleNeedOf } from '../api/index.ts';
import { useAccount } from '../session/index.ts';

/** Returns true if a member with this role may call the operation, by the contract. Without a role, a person acts for themself. */
export const mayAs = (role: Role | undefined, operation: OperationName): boolean => {
  const need = roleNeedOf(operation);
  return role === undefined || need === undefined || isRoleEnough(role, need);
};

/** Returns a function that says if the person may call an operation for the account that the pages are about. */
export const useMay = (): ((operation: OperationName) => boolean) => {
  const role = useAccount().organization?.role;
  return (operation) => mayAs(role, operation);
};
