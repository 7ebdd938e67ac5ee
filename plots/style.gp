# How all figures look.  Loaded with DIR, OUTPUT and TITLE set.
set encoding utf8
set datafile separator comma
set datafile columnheaders
if (strlen(OUTPUT) > 4 && OUTPUT[strlen(OUTPUT) - 3:] eq ".png") {
    set terminal pngcairo size 1100, 560 font "DejaVu Sans,11"
} else {
    set terminal svg size 1000, 500 dynamic font "DejaVu Sans,Helvetica,sans-serif,12" background "#ffffff"
}
set output OUTPUT
set label 1 TITLE at graph 0, 1.06 left noenhanced textcolor "#333333"
set tmargin 3
set border 3 linecolor "#666666"
set tics nomirror out textcolor "#333333"
set grid ytics linecolor "#dddddd" linetype 1
set xlabel "event" textcolor "#333333"
set format x "%.0f"
set decimalsign "."
set key outside right top vertical Left reverse noenhanced samplen 2 textcolor "#333333"
set style fill solid 1.0 noborder

# Colours that are told apart without red and green, and in grey.
RESERVED = "#c6dbef"; ACTIVE = "#6baed6"; ALLOCATED = "#08519c"; REQUESTED = "#fdae6b"
CARD = "#444444"; ALARM = "#d7301f"; BAND = "#f2f2f2"
PINNED = "#08519c"; SPLIT = "#6baed6"; POOL = "#fdae6b"; STREAM = "#bcbddc"; PENDING = "#969696"

# Bytes in the unit that suits the largest of them.
scale(most) = most < 2.0**21 ? 2.0**10 : most < 2.0**31 ? 2.0**20 : 2.0**30
unit(most) = most < 2.0**21 ? "KiB" : most < 2.0**31 ? "MiB" : "GiB"
