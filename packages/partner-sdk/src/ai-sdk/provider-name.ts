/** Name of the provider and of its public model. */
export const PROVIDER = 'svc';
