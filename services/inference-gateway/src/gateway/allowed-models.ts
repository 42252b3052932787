import { type ApiKeyCaller, AppError } from '@svc/service-kit';

/** Returns true unless the allow-list of the key lacks the model. */
export const mayUse = ({ models }: ApiKeyCaller, model: string): boolean =>
  models === null || models === undefined || models.includes(model);

/** Throws `model_not_allowed` if the allow-list of the key lacks the model. */
export const checkModel = (caller: ApiKeyCaller, model: string): void => {
  if (!mayUse(caller, model)) throw new AppError('model_not_allowed', undefined, { details: { param: 'model' } });
};
