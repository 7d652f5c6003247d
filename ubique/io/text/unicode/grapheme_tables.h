// SPDX-License-Identifier: Apache-2.0
// What stands together as one visible character, of Unicode 16.0.0.
// Made by tools/unicode_tables.py; not edited by hand.
#pragma once

#include <string_view>

namespace ubique::io {

// clang-format off
inline constexpr std::string_view kJoiningRanges =  // what joins the character before: distance, length - 1
    "PH_3d86X8!120212120Y2:a1DA0V36353123T10OJl2:k18:0I3282224!12l18[1G2P1g122A26;1N2i10263132:0;1K03"
    "2i1024513240O140<2i10272222E1G522i1026313282;1O0l144223:0Y14h1026222381<1N2i1026222381<1@0=3h112"
    "62223:0;1N2W20552027C1n1027=7S3029<6Z21L0202051b1C216:2S1:0W3:25H352A3>02270@0PF2cM3M2N1O1Q2O:0^"
    "1220f31S10g3;5;l64j1920203G30a1Nb14`1@W18=2O<i1=a1Ci422D507032W6o1]@1S6P1oo22^40Q3O[A5Z31e^M329Q"
    "11a21a804050H450d21c1AKA>0W17J<]13`1=U10T2==091_10d1022316120Z1461]7721aiC0RG?A?_;1nB0S70f44Wd12"
    "2163Y1250V51nA3R24n91`23W2:b13k32f1>Z1031;3^1:80n12U1=A1]10=2a1=9321m2;7030n4;F3h11263132:0;1364"
    "4T282030232420?1c2AH0b2C!7638L1c2@[3<V3239Q8>f7521332021^463640M9Y162390::_1?f<727c2E2=k35402126"
    "20S242124l:3:120a1644H0VW507>YV;AQ^24l16iP102f183b20<1!UC1Rc4]13Fo@4459736O3e42lm1f15a190?0G42>a"
    "Z162@362124U30Q56h;0n13m?3o71QG6^36ae24QQSHo2Q4_7";

inline constexpr std::string_view kControlRanges =  // what joins nothing
    "0OP3P1>0_[10b_40mo1031I6b1?`dg10a7;eQ=?QSR13`V57Vd[HOQ3o3a7_`3";

inline constexpr std::string_view kPrependedRanges =  // what joins the character after
    "P`15h60b10Q<1a20!S10_kP20@0e71^@0^[1020S:5mE0l=0";
// clang-format on

}  // namespace ubique::io
