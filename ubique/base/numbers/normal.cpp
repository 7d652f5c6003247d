// SPDX-License-Identifier: Apache-2.0
// libm's exp and log differ in the last bit from system to system; these do not. The build compiles
// this file with -ffp-contract=off: a fused multiply-add would change bits on some processors.
#include "ubique/base/numbers/normal.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ubique {
namespace {

// ln 2 in two parts; the first has 21 zero bits at its end, so that a multiple of it is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

/// log x = e ln 2 + 2 atanh((m - 1) / (m + 1)) with x = m 2^e and m near 1; x > 0.
double plain_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0x1.6a09e667f3bcdp-1) {       // sqrt(0.5)
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // |s| < 0.172
  const double square = s * s;
  double series = 0;
  for (int k = 25; k >= 3; k -= 2) series = (series + 1.0 / k) * square;
  const double e = exponent;
  return e * kLn2High + (2 * s + (2 * s * series + e * kLn2Low));
}

/// exp x for x <= 0: the Taylor series after taking out powers of two.
double plain_exp(double x) {
  if (x < -745.2) return 0;
  const double k = std::floor(x * 0x1.71547652b82fep0 + 0.5);  // 1 / ln 2
  const double r = (x - k * kLn2High) - k * kLn2Low;           // |r| < 0.347
  double sum = 1;
  for (int i = 14; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(k));
}

// AS 241 (PPND16): three ranges, each a quotient of two polynomials of degree 7.
struct Quotient {
  std::array<double, 8> numerator, denominator;
  double operator()(double x) const {
    return polynomial(numerator, x) / polynomial(denominator, x);
  }
};

constexpr Quotient kCentre{
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3}};
constexpr Quotient kShoulder{
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
constexpr Quotient kTail{
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/// P(X > t) for t >= 0.
double upper_tail(double t) {
  constexpr double kRootOfTwoPi = 2.5066282746310005024;
  if (t > 39) return 0;
  // exp(-t^2/2) in two factors: t^2 alone would lose the digits that matter for large t.
  const double coarse = std::floor(t * 16) / 16;  // its square is exact
  const double density = plain_exp(-0.5 * coarse * coarse) *
                         plain_exp(-0.5 * (t - coarse) * (t + coarse)) / kRootOfTwoPi;
  if (t < 1.25) {  // 1/2 - density (t + t^3/3 + t^5/(3 5) + ...)
    double term = t;
    double sum = t;
    for (int k = 3; k <= 61; k += 2) {
      term = term * t * t / k;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  double fraction = t;  // density / (t + 1/(t + 2/(t + 3/(t + ...))))
  for (int k = 200; k >= 1; --k) fraction = t + k / fraction;
  return density / fraction;
}

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return q * kCentre(0.180625 - q * q);
  const double tail = q < 0 ? p : 1 - p;
  if (!(tail > 0)) return std::copysign(std::numeric_limits<double>::infinity(), q);
  const double r = std::sqrt(-plain_log(tail));
  const double x = r <= 5 ? kShoulder(r - 1.6) : kTail(r - 5);
  return q < 0 ? -x : x;
}

double normal_cdf(double x) { return x < 0 ? upper_tail(-x) : 1 - upper_tail(x); }

}  // namespace ubique
