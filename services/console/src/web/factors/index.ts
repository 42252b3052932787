export { FactorsCard } from './factors-card.tsx';
