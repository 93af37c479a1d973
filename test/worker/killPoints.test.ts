/** Gateways and workers die anywhere; the store, the stream and the survivors make it good. */
import { describeKillPoints } from './support/killWorld';

describeKillPoints(20);
