import { type ApiKeyCaller, AppError } from '@svc/service-kit';

/** Returns true if the key has no allow-list or its list contains the model. */
export const mayUse = ({ models }: ApiKeyCaller, model: string): boolean =>
  models === null || models === undefined || models.includes(model);

/** Throws `model_not_allowed` if the key may not use the model. */
export const checkModel = (caller: ApiKeyCaller, model: string): void => {
  if (!mayUse(caller, model)) throw new AppError('model_not_allowed', undefined, { details: { param: 'model' } });
};
