// SPDX-License-Identifier: Apache-2.0
// What goes wrong while songs, styles and playlists are read.
import { Attempt } from '../ui/notice';

export const listFault = new Attempt();
